import { randomBytes } from "node:crypto";
import { Refused, type Reply } from "#src/http/call.ts";

export interface GraphFault {
  readonly code: number;
  readonly subcode?: number;
  readonly message: string;
  readonly type?: string;
  readonly isTransient?: boolean;
  readonly userTitle?: string;
  readonly userMessage?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Most errors have status 400, regardless of their cause. */
export function graphError(fault: GraphFault, status = 400): Reply {
  const { code, subcode, message, type, isTransient, userTitle, userMessage, data } = fault;
  const error = {
    message: code > 0 ? `(#${code}) ${message}` : message,
    type: type ?? "OAuthException",
    code,
    ...(data === undefined ? {} : { error_data: data }),
    ...(subcode === undefined ? {} : { error_subcode: subcode }),
    is_transient: isTransient ?? false,
    ...(userTitle === undefined ? {} : { error_user_title: userTitle }),
    ...(userMessage === undefined ? {} : { error_user_msg: userMessage }),
    fbtrace_id: randomBytes(8).toString("base64url"),
  };
  return { status, body: { error } };
}

export function refuseGraph(fault: GraphFault, status?: number): never {
  throw new Refused(graphError(fault, status));
}

export function refuseParameter(message: string, subcode?: number): never {
  return refuseGraph({ code: 100, message, ...(subcode === undefined ? {} : { subcode }) });
}

/** The Graph API does not say whether an id is unknown or not accessible. */
export function refuseObject(id: string): never {
  const message = `Unsupported request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation.`;
  return refuseGraph({ code: 100, subcode: 33, type: "GraphMethodException", message });
}

/** 458 = app removed, 460 = password changed, 463 = expired, 467 = invalid. */
export function tokenError(subcode: number): Reply {
  const message = `Error validating access token: the session is not valid (${subcode}).`;
  return graphError({ code: 190, subcode, message }, 401);
}

const BY_STATUS: Readonly<Record<number, GraphFault>> = {
  400: { code: 100, message: "Invalid parameter" },
  401: { code: 190, subcode: 460, message: "Error validating access token: password changed." },
  403: { code: 200, message: "Requires a permission that the app was not granted" },
  404: { code: 100, subcode: 33, type: "GraphMethodException", message: "Object does not exist" },
  413: { code: 1, message: "The file is too large", isTransient: false },
  429: { code: 4, message: "Application request limit reached", isTransient: true },
};

export function statusError(status: number): Reply {
  const fault = BY_STATUS[status] ?? {
    code: 2,
    message: "An unexpected error has occurred. Please retry your request later.",
    isTransient: true,
  };
  return graphError(fault, status);
}
