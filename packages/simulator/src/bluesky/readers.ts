import { createHash } from "node:crypto";
import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import { AT_URI, uriOf } from "#src/bluesky/records.ts";
import type { Comment, Reactions } from "#src/world/reactions.ts";

const DID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const DID_CHARACTERS = 24;

export function didOf(bytes: Buffer): string {
  const letters = [...bytes.subarray(0, DID_CHARACTERS)].map((byte) => DID_ALPHABET[byte & 31]);
  return `did:plc:${letters.join("")}`;
}

/** Readers have no accounts in the simulator, so their DIDs come from their names. */
export function readerDid(author: string): string {
  return didOf(createHash("sha256").update(author).digest());
}

export function commentUri({ author, id }: Comment): string {
  return uriOf({ did: readerDid(author), collection: POST_COLLECTION, rkey: id });
}

export function findComment(reactions: Reactions, uri: string): Comment | undefined {
  const comment = reactions.comment("bluesky", AT_URI.exec(uri)?.[3] ?? "");
  return comment !== undefined && commentUri(comment) === uri ? comment : undefined;
}
