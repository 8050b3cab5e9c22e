import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { findComment } from "#src/bluesky/readers.ts";
import { THREADGATE_COLLECTION } from "#src/bluesky/threadgate-record.ts";
import type { Operation } from "#src/faults/rule.ts";
import { type Call, isRecord, jsonObject } from "#src/http/call.ts";

/**
 * `reply` only for a reply to a reader's comment; a reply to the account's own post is a `publish`.
 */
export function writeOperations(
  call: Call,
  { world }: BlueskyNetwork,
): readonly [Operation, ...Operation[]] {
  const input = jsonObject(call) ?? {};
  if (input["collection"] === THREADGATE_COLLECTION) return ["hide"];

  if (input["collection"] !== POST_COLLECTION) return ["other"];

  const reply = isRecord(input["record"]) ? input["record"]["reply"] : undefined;
  const parent = isRecord(reply) && isRecord(reply["parent"]) ? reply["parent"]["uri"] : undefined;
  const answersReader =
    typeof parent === "string" && findComment(world.reactions, parent) !== undefined;
  return answersReader ? ["reply"] : ["publish", "create"];
}
