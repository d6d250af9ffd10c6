/* web - path, type, bytes
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/web.h"

#include <stddef.h>

/* dashboards/web/, embedded by the build */
extern const unsigned char page_html[], page_js[], page_css[], icon_svg[];

const web_file web_files[] = {
    {"/", "text/html; charset=utf-8", page_html},
    {"/page.js", "text/javascript; charset=utf-8", page_js},
    {"/page.css", "text/css; charset=utf-8", page_css},
    {"/icon.svg", "image/svg+xml", icon_svg},
    {NULL, NULL, NULL},
};
