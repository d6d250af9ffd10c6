/* mock_old - a driver library that lacks everything.
 *
 * SPDX-License-Identifier: MIT */
int mock_old_marker(void);

__attribute__((visibility("default"))) int mock_old_marker(void)
{
    return 0;
}
