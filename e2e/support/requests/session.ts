import type { SharedSystem } from "../system/system.ts";

export interface SessionAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A program that behaves like the dashboard's page in a browser with one session. */
export interface Session {
  /** Sends a request below `/app/api`. Of a picture or a stream only the head is read. */
  readonly call: (
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ) => Promise<SessionAnswer>;
}

async function bodyOf(answer: Response): Promise<unknown> {
  if (answer.headers.get("content-type")?.startsWith("application/json") === true)
    return await answer.json();
  await answer.body?.cancel();
  return undefined;
}

/** Opens a session of a workspace with all scopes, or with those of an API key. */
export async function openSession(
  { operate }: Pick<SharedSystem, "operate">,
  workspaceId: string,
): Promise<Session> {
  const link = await operate<{ url: string }>("dashboard", "link", "--workspace", workspaceId);
  const { origin, hash } = new URL(link.url);
  let cookie = "";
  const call: Session["call"] = async (method, path, { body, headers } = {}) => {
    const answer = await fetch(`${origin}/app/api${path}`, {
      method,
      headers: {
        origin,
        cookie,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) cookie = set.split(";")[0] ?? "";
    return { status: answer.status, headers: answer.headers, body: await bodyOf(answer) };
  };
  const { status } = await call("POST", "/session", { body: { token: hash.slice(1) } });
  if (status !== 201) throw new Error(`POST /session answered ${status}`);
  return { call };
}
