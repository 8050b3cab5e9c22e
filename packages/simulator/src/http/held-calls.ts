import type { IncomingHttpHeaders } from "node:http";
import type { Call } from "#src/http/call.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface HeldCall {
  readonly platform: string;
  readonly routePath: string;
  readonly dueAt: number;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly baseUrl: string;
}

/** They survive a restart of the simulator; a reset deletes them. */
export class HeldCalls {
  readonly #rows: Table<HeldCall>;

  constructor(store: Store) {
    this.#rows = store.table<HeldCall>("held_calls");
  }

  hold(id: string, call: Call, about: Pick<HeldCall, "platform" | "routePath" | "dueAt">): void {
    const { method, path, params, headers, baseUrl } = call;
    const query = call.query.toString();
    const body = call.body.toString("base64");
    this.#rows.put(id, { ...about, method, path, params, query, headers, body, baseUrl });
  }

  take(id: string): Call | undefined {
    const held = this.#rows.get(id);
    this.#rows.delete(id);
    return held === undefined ? undefined : toCall(held);
  }

  all(): [id: string, held: HeldCall][] {
    return [...this.#rows.entries()];
  }
}

function toCall(held: HeldCall): Call {
  const { method, path, params, headers, baseUrl } = held;
  const query = new URLSearchParams(held.query);
  return { method, path, params, query, headers, body: Buffer.from(held.body, "base64"), baseUrl };
}
