import { createHash } from "node:crypto";
import { POST_COLLECTION } from "#src/bluesky/post-record.ts";
import type { Store, Table } from "#src/store/store.ts";
import { existsAt } from "#src/world/posts.ts";
import type { Comment, Reactions } from "#src/world/reactions.ts";

/**
 * A record of a Bluesky repository. A deleted record stays stored, because stale reads still return
 * it.
 */
export interface StoredRecord {
  readonly did: string;
  readonly collection: string;
  readonly rkey: string;
  readonly cid: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly deletedAt: number | null;
}

export const AT_URI = /^at:\/\/([^/]+)\/([^/]+)\/([^/]+)$/;

export class Records {
  readonly #rows: Table<StoredRecord>;
  readonly #collections = new Map<string, Set<string>>();

  constructor(store: Store) {
    this.#rows = store.table<StoredRecord>("bluesky.records");
    for (const record of this.#rows.values()) this.#index(record);
    store.onReset(() => this.#collections.clear());
  }

  find(did: string, collection: string, rkey: string, asOf: number): StoredRecord | undefined {
    const record = this.#rows.get(`${did}/${collection}/${rkey}`);
    return record !== undefined && existsAt(record, asOf) ? record : undefined;
  }

  put(record: StoredRecord): void {
    this.#rows.put(`${record.did}/${record.collection}/${record.rkey}`, record);
    this.#index(record);
  }

  list(did: string, collection: string, asOf: number): StoredRecord[] {
    const keys = [...(this.#collections.get(`${did}/${collection}`) ?? [])].sort().reverse();
    return keys
      .flatMap((key) => this.#rows.get(key) ?? [])
      .filter((record) => existsAt(record, asOf));
  }

  #index({ did, collection, rkey }: StoredRecord): void {
    const keys = this.#collections.get(`${did}/${collection}`) ?? new Set<string>();
    this.#collections.set(`${did}/${collection}`, keys);
    keys.add(`${did}/${collection}/${rkey}`);
  }
}

export function uriOf({
  did,
  collection,
  rkey,
}: Pick<StoredRecord, "did" | "collection" | "rkey">): string {
  return `at://${did}/${collection}/${rkey}`;
}

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
