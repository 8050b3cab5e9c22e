import type { Upload, Uploads } from "#src/graph/rupload.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";

export type ContainerKind = "image" | "reel" | "carousel";

/** What Instagram found wrong with a container. */
export interface ContainerError {
  readonly subcode: number;
  readonly message: string;
}

/** Something that may become a post, once. */
export interface Container {
  readonly id: string;
  /** External id of the account. */
  readonly owner: string;
  readonly kind: ContainerKind;
  /** A part of a carousel, which cannot be published by itself. */
  readonly isChild: boolean;
  readonly caption: string;
  /** What readers will see, of a carousel that of its children; empty for a film that is pushed and not there yet. */
  readonly media: readonly PostedMedia[];
  /** Whether its film is pushed to the upload host. */
  readonly isPushed: boolean;
  /** Platform time, Unix milliseconds. */
  readonly createdAt: number;
  /** Known from the beginning, told when it was processed. */
  readonly error: ContainerError | null;
  readonly publishedAt: number | null;
}

export type ContainerStatus =
  | { readonly code: "IN_PROGRESS" | "FINISHED" | "PUBLISHED" | "EXPIRED" }
  | { readonly code: "ERROR"; readonly error: ContainerError };

const LIFE_MS = 86_400_000;
/** How long Instagram works on a film; long enough to be seen at it once by who asks every second. */
const PROCESSING_MS = 1200;
const NO_FILM: ContainerError = { subcode: 2_207_026, message: "Unsupported video format" };

/** Why a film that has come cannot be used; null if it can. */
function filmError({ received }: Upload): ContainerError | null {
  return received?.kind === "video" ? null : NO_FILM;
}

/** All containers, with the uploads that belong to them. */
export class Containers {
  readonly #rows: Table<Container>;
  readonly #uploads: Uploads;

  constructor(store: Store, uploads: Uploads) {
    this.#rows = store.table<Container>("instagram.containers");
    this.#uploads = uploads;
  }

  put(container: Container): Container {
    this.#rows.put(container.id, container);
    return container;
  }

  /** The account's own that was there at that instant. */
  find(owner: string, id: string, instant: number): Container | undefined {
    const container = this.#rows.get(id);
    return container?.owner === owner && container.createdAt <= instant ? container : undefined;
  }

  /** How far Instagram was with it at that instant. */
  statusOf(container: Container, instant: number): ContainerStatus {
    const { createdAt, publishedAt, kind } = container;
    if (publishedAt !== null && publishedAt <= instant) {
      return { code: "PUBLISHED" };
    }
    if (instant >= createdAt + LIFE_MS) {
      return { code: "EXPIRED" };
    }
    const startedAt = this.#startedAt(container);
    if (startedAt === null || instant < startedAt + (kind === "reel" ? PROCESSING_MS : 0)) {
      return { code: "IN_PROGRESS" };
    }
    const upload = this.#uploads.find(container.id);
    const error = upload === undefined ? container.error : filmError(upload);
    return error === null ? { code: "FINISHED" } : { code: "ERROR", error };
  }

  /** What readers see of it; empty while a film has not come. */
  mediaOf(container: Container): readonly PostedMedia[] {
    const received = this.#uploads.find(container.id)?.received;
    return received === undefined || received === null
      ? container.media
      : [{ kind: received.kind, sha256: received.sha256 }];
  }

  /** When Instagram had all that it needs; null while it has not. */
  #startedAt({ id, createdAt, isPushed }: Container): number | null {
    return isPushed ? (this.#uploads.find(id)?.completedAt ?? null) : createdAt;
  }
}
