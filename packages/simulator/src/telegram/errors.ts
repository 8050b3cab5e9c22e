import { Refused, type Reply } from "#src/http/call.ts";

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "Bad Request: message can't be processed",
  401: "Unauthorized",
  403: "Forbidden: bot was kicked from the channel chat",
  404: "Not Found",
  409: "Conflict: terminated by other getUpdates request",
  413: "Request Entity Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

export function failure(code: number, description: string): Reply {
  return { status: code, body: { ok: false, error_code: code, description } };
}

export function statusFailure(code: number): Reply {
  return failure(code, DESCRIPTIONS[code] ?? "Error");
}

export function tooManyRequests(seconds: number): Reply {
  return {
    status: 429,
    headers: { "retry-after": String(seconds) },
    body: {
      ok: false,
      error_code: 429,
      description: `Too Many Requests: retry after ${seconds}`,
      parameters: { retry_after: seconds },
    },
  };
}

export function refuse(description: string): never {
  throw new Refused(failure(400, `Bad Request: ${description}`));
}

/** Without the words of its status. */
export function reasonOf({ reply }: Refused): string {
  const { description } = reply.body as { readonly description: string };
  return description.replace(/^Bad Request: /, "");
}

export function refuseMigrated(chatId: string): never {
  const description = "Bad Request: group chat was upgraded to a supergroup chat";
  const parameters = { migrate_to_chat_id: Number(chatId) };
  throw new Refused({ status: 400, body: { ok: false, error_code: 400, description, parameters } });
}

export function forbid(description: string): never {
  throw new Refused(failure(403, `Forbidden: ${description}`));
}
