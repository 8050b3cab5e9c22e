import {
  describeStatus,
  type JsonObject,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type Site, toRequest } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { type Outcome, toUnanswered } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toFailure } from "./failures.ts";
import { forgetBlobs } from "./video-calls.ts";
import { COLLECTION, toPermalink, toPost } from "./xrpc.ts";

const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const LENGTH = 13;

/**
 * 53 bits of microseconds and 10 bits of clock id as 13 characters that sort by time (AT Protocol,
 * record keys). Chosen before the first call, so that writing the record is idempotent.
 */
export function createTid(now: Date, random: number): string {
  const clockId = BigInt(Math.floor(random * 1024));
  const microseconds =
    BigInt(now.getTime()) * 1000n + BigInt(Math.floor(random * 1_000_000) % 1000);
  let value = (microseconds << 10n) | clockId;
  let tid = "";
  for (let index = 0; index < LENGTH; index += 1) {
    tid = (ALPHABET[Number(value & 31n)] ?? "2") + tid;
    value >>= 5n;
  }
  return tid;
}

/** The current time for a record key that is not a TID. */
export function timeOfTid(tid: string): Date {
  const digits = Array.from(tid, (character) => ALPHABET.indexOf(character));
  if (digits.length !== LENGTH || digits.includes(-1)) return new Date();
  const value = digits.reduce((sum, digit) => (sum << 5n) | BigInt(digit), 0n);
  return new Date(Number((value >> 10n) / 1000n));
}

interface NewPost {
  readonly rkey: string;
  readonly record: JsonObject;
  /** With the uploaded files of the record. */
  readonly handles?: Handles;
}

function toOutcome(
  answer: PlatformAnswer,
  account: AccountAccess,
  { rkey, handles = {} }: NewPost,
): Outcome {
  if (answer.status === 200 && text(answer.json, "uri") !== undefined)
    return { kind: "published", externalId: rkey, permalink: toPermalink(account, rkey) };

  const name = text(answer.json, "error");
  if (name === undefined || answer.status < 400 || answer.status >= 500 || name === "InvalidSwap")
    return { kind: "unknown", message: shorten(name ?? describeStatus(answer)) };

  return toFailure(answer, name, forgetBlobs(handles));
}

/** Writing the same record under the same key again changes nothing and gets the same answer. */
export async function putPost(site: Site, post: NewPost, guard: SendGuard): Promise<Outcome> {
  const { account } = site;
  const { rkey, record } = post;
  const body = { repo: account.externalId, collection: COLLECTION, rkey, record, swapRecord: null };
  const sent = await sendOnce(toRequest(site, toPost("com.atproto.repo.putRecord", body)), guard);
  return sent.kind === "answer" ? toOutcome(sent, account, post) : toUnanswered(sent);
}
