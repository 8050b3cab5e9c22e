import type { Reply } from "#src/http/call.ts";

const HTML = { "content-type": "text/html" };

/**
 * The response of a load balancer whose backend is down: an HTML page, without JSON and without
 * rate-limit headers.
 */
export function proxyPage(status: number): Reply {
  const page = `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status} Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
  return { status, headers: HTML, body: page };
}

/**
 * A response of a `garbage_body` fault: status 200 with a body in a format that the caller does not
 * expect.
 */
export const GARBAGE_PAGE: Reply = {
  status: 200,
  headers: HTML,
  body: "<!DOCTYPE html><html><body>Please wait while we check your browser",
};
