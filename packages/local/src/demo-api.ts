import { createHash } from "node:crypto";
import type { LocalStack } from "#src/local-file.ts";

const UPLOAD_MS = 30_000;

/** The address of a local stack and an API key for it. */
type Client = Pick<LocalStack, "baseUrl" | "apiKey">;

/** A publishing target as the REST API shows it, reduced to the fields that the demo needs. */
export interface DemoTarget {
  readonly accountId: string;
  readonly platform: string;
  readonly username: string;
  readonly status: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A post as the REST API shows it, reduced to the fields that the demo needs. */
export interface DemoPost {
  readonly id: string;
  readonly status: string;
  readonly targets: readonly DemoTarget[];
}

/** A file that the demo uploads. */
export interface DemoFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Platform-specific options of a post. */
export interface DemoOptions {
  readonly title?: string;
  readonly privacy?: string;
}

/** The content of a post and the accounts on which it is published. */
export interface DemoRequest {
  readonly content: string;
  readonly accountIds: readonly string[];
  readonly mediaIds: readonly string[];
  /** Platform-specific options of the post, by platform. */
  readonly options: Readonly<Record<string, DemoOptions>>;
}

/** Creates a post that is published at once. */
export async function createPost(stack: Client, request: DemoRequest): Promise<DemoPost> {
  return (await call(stack, "POST", "/posts", request)) as DemoPost;
}

interface Grant {
  readonly id: string;
  readonly uploadUrl: string;
}

/** Uploads a file through the REST API; returns its media id. */
export async function uploadFile(stack: Client, file: DemoFile): Promise<string> {
  const { fileName, contentType, bytes } = file;
  const declared = { fileName, contentType, bytes: bytes.length };
  const grant = (await call(stack, "POST", "/media/presign", declared)) as Grant;
  const answer = await fetch(grant.uploadUrl, {
    method: "PUT",
    headers: { "content-type": contentType },
    body: bytes,
    signal: AbortSignal.timeout(UPLOAD_MS),
  });
  if (!answer.ok) {
    throw new Error(`the upload of ${fileName} was answered with status ${answer.status}`);
  }
  await call(stack, "POST", `/media/${grant.id}/complete`);
  return grant.id;
}

export async function getPost(stack: Client, id: string): Promise<DemoPost> {
  return (await call(stack, "GET", `/posts/${id}`)) as DemoPost;
}

interface Entry {
  readonly id: string;
  readonly text: string;
  readonly media: readonly { readonly sha256: string }[];
}

/**
 * Asks the simulated platform whether readers see the post, with its file byte for byte. TikTok gives a post its id
 * later; until then the demo finds the post by its text.
 */
export async function isVisible(
  stack: Pick<LocalStack, "simulatorUrl" | "accounts">,
  target: DemoTarget,
  { content, file }: { readonly content: string; readonly file?: DemoFile },
): Promise<boolean> {
  const account = stack.accounts.find((each) => each.id === target.accountId);
  const url = new URL("/_control/visible", stack.simulatorUrl);
  url.searchParams.set("platform", target.platform);
  url.searchParams.set("account", account?.externalId ?? "");
  const seen = (await (await fetch(url)).json()) as readonly Entry[];
  const entry = seen.find(({ id, text }) =>
    target.externalId === null ? text === content : id === target.externalId,
  );
  if (file === undefined) {
    return entry !== undefined;
  }
  const sha256 = createHash("sha256").update(file.bytes).digest("hex");
  return entry?.media.some((media) => media.sha256 === sha256) ?? false;
}

async function call(
  stack: Client,
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
