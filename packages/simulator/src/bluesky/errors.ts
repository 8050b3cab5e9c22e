import { Refused, type Reply } from "#src/http/call.ts";

const ERRORS: Readonly<Record<number, readonly [error: string, message: string]>> = {
  400: ["InvalidRequest", "Invalid request"],
  401: ["AuthMissing", "Authentication Required"],
  403: ["Forbidden", "Forbidden"],
  404: ["NotFound", "Not Found"],
  413: ["PayloadTooLarge", "request entity too large"],
  429: ["RateLimitExceeded", "Rate Limit Exceeded"],
  500: ["InternalServerError", "Internal Server Error"],
  501: ["MethodNotImplemented", "Method Not Implemented"],
  502: ["UpstreamFailure", "Upstream Failure"],
  503: ["NotEnoughResources", "Not Enough Resources"],
  504: ["UpstreamTimeout", "Upstream Timeout"],
};

export function xrpcError(status: number, error: string, message: string): Reply {
  return { status, body: { error, message } };
}

export function statusError(status: number): Reply {
  const [error, message] = ERRORS[status] ?? ["Error", "Error"];
  return xrpcError(status, error, message);
}

export function refuse(status: number, error: string, message: string): never {
  throw new Refused(xrpcError(status, error, message));
}

export function refuseInput(message: string): never {
  return refuse(400, "InvalidRequest", message);
}
