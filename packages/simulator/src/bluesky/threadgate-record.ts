import { refuseInput } from "#src/bluesky/errors.ts";
import { AT_URI } from "#src/bluesky/records.ts";

export const THREADGATE_COLLECTION = "app.bsky.feed.threadgate";

const MAX_RULES = 5;
const MAX_HIDDEN_REPLIES = 300;

function invalid(what: string, path: string): never {
  return refuseInput(`Invalid ${THREADGATE_COLLECTION} record: ${what} at $.${path}`);
}

function checkMax(value: unknown, path: string, max: number): void {
  if (value !== undefined && !Array.isArray(value)) invalid("expected array value type", path);

  if (Array.isArray(value) && value.length > max)
    invalid(`array too big (maximum ${max}, got ${value.length})`, path);
}

export function checkThreadgate(value: Readonly<Record<string, unknown>>): void {
  const { post, createdAt, allow, hiddenReplies } = value;
  if (typeof post !== "string" || !AT_URI.test(post)) invalid("expected an at-uri", "post");

  if (typeof createdAt !== "string" || Number.isNaN(Date.parse(createdAt)))
    invalid("expected a datetime", "createdAt");

  checkMax(allow, "allow", MAX_RULES);
  checkMax(hiddenReplies, "hiddenReplies", MAX_HIDDEN_REPLIES);
}
