import type { LocalStack } from "#src/local-file.ts";

/** A target as the API shows it; only what the demo needs. */
export interface DemoTarget {
  readonly accountId: string;
  readonly platform: string;
  readonly username: string;
  readonly status: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A post as the API shows it; only what the demo needs. */
export interface DemoPost {
  readonly id: string;
  readonly status: string;
  readonly targets: readonly DemoTarget[];
}

/** Publishes a text to all accounts of the demo workspace. */
export async function createPost(stack: LocalStack, content: string): Promise<DemoPost> {
  const accountIds = stack.accounts.map((account) => account.id);
  return (await call(stack, "POST", "/posts", { content, accountIds })) as DemoPost;
}

/** Reads a post. */
export async function getPost(stack: LocalStack, id: string): Promise<DemoPost> {
  return (await call(stack, "GET", `/posts/${id}`)) as DemoPost;
}

/** Asks the simulated platform whether its readers see the target's post. */
export async function isVisible(stack: LocalStack, target: DemoTarget): Promise<boolean> {
  const account = stack.accounts.find((each) => each.id === target.accountId);
  const url = new URL("/_control/visible", stack.simulatorUrl);
  url.searchParams.set("platform", target.platform);
  url.searchParams.set("account", account?.externalId ?? "");
  const seen: unknown = await (await fetch(url)).json();
  return Array.isArray(seen) && seen.some((entry) => entry?.id === target.externalId);
}

async function call(
  stack: LocalStack,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${stack.baseUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${stack.apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
  }
  return JSON.parse(text);
}
