import { createHash } from "node:crypto";
import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import { AT_URI, uriOf } from "#src/bluesky/records.ts";
import type { Comment, Reactions } from "#src/world/reactions.ts";

const DID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const DID_CHARACTERS = 24;

/** Derives a Bluesky DID from the given bytes. */
export function didOf(bytes: Buffer): string {
  const letters = [...bytes.subarray(0, DID_CHARACTERS)].map((byte) => DID_ALPHABET[byte & 31]);
  return `did:plc:${letters.join("")}`;
}

/**
 * The DID of a reader on Bluesky, derived from the reader's name, because readers have no accounts
 * in the simulator.
 */
export function readerDid(author: string): string {
  return didOf(createHash("sha256").update(author).digest());
}

/** The URI of a reader's comment, which lies in the reader's own repository. */
export function commentUri({ author, id }: Comment): string {
  return uriOf({ did: readerDid(author), collection: POST_COLLECTION, rkey: id });
}

/** Finds a reader's comment on Bluesky by its URI. */
export function findComment(reactions: Reactions, uri: string): Comment | undefined {
  const comment = reactions.comment("bluesky", AT_URI.exec(uri)?.[3] ?? "");
  return comment !== undefined && commentUri(comment) === uri ? comment : undefined;
}
