import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

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
      .map((key) => this.#rows.get(key))
      .filter((record) => record !== undefined && existsAt(record, asOf))
      .filter((record) => record !== undefined);
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

function existsAt(record: StoredRecord, instant: number): boolean {
  return record.createdAt <= instant && (record.deletedAt === null || record.deletedAt > instant);
}
