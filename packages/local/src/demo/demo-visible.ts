import { createHash } from "node:crypto";
import type { PostTarget } from "@postrider/client";
import type { LocalStack } from "#src/stack/local-file.ts";

/** A file that the demo uploads. */
export interface DemoFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

interface Entry {
  readonly id: string;
  readonly text: string;
  readonly media: readonly { readonly sha256: string }[];
}

/**
 * Asks the simulated platform whether readers see the post, with its file byte for byte. TikTok assigns the id of a post
 * later; until then the demo finds the post by its text.
 */
export async function isVisible(
  stack: Pick<LocalStack, "simulatorUrl" | "accounts">,
  target: PostTarget,
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
  if (file === undefined) return entry !== undefined;

  const sha256 = createHash("sha256").update(file.data).digest("hex");
  return entry?.media.some((media) => media.sha256 === sha256) ?? false;
}
