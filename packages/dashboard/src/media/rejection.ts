import { PostriderConnectionError, PostriderError } from "@postrider/client";

interface RejectionWords {
  readonly rejected: Readonly<Record<string, string>>;
  readonly unknownType: string;
  readonly connectionLost: string;
}

/** Why a file was not taken: in words of the page, or in the server's own. */
export function rejectionOf(error: unknown, words: RejectionWords): string {
  if (error instanceof PostriderConnectionError) return words.connectionLost;
  // The client refuses a file whose type neither the browser nor its name tells.
  if (!(error instanceof PostriderError)) return words.unknownType;
  const { code, details, message } = error;
  const known = [...details.map((detail) => detail.code), code].find((each) =>
    Object.hasOwn(words.rejected, each),
  );
  return words.rejected[known ?? ""] ?? details[0]?.message ?? message;
}

/** Whether sending the same file again can help. */
export function isRepeatable(error: unknown): boolean {
  if (error instanceof PostriderConnectionError) return true;
  return error instanceof PostriderError && (error.status >= 500 || error.status === 429);
}
