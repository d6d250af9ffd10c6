/* tsan - what ThreadSanitizer cannot know: libzmq is not instrumented
 *
 * It sees neither the queues nor the locks by which libzmq hands a message from its I/O thread to ours,
 * so every byte of every message looks like a race. Only those reports are dropped.
 *
 * SPDX-License-Identifier: MIT */
const char *__tsan_default_suppressions(void) __attribute__((visibility("default")));

const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libzmq.so.5\n"
           "race:libzmq.so.5\n"
           "race:libstdc++.so.6\n"
           "race:^message_decode$\n"
           "race:^frame_read$\n";
}
