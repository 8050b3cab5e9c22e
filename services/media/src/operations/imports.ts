import { join } from "node:path";
import { unavailable, unprocessable } from "@postrider/shared/errors";
import type { OutboundClient } from "@postrider/shared/http/outbound-client";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import type { CheckedMedia, CheckMedia } from "#src/domain/checked-media.ts";
import { download } from "./download.ts";
import { Slots } from "./slots.ts";
import { withTempFolder } from "./temp-folder.ts";

/** Each may need as much of the disk as the largest film; a slow one costs little, and four workspaces must not take all. */
const SLOTS = { total: 40, perOwner: 4, waitMs: 10_000, queue: 200 };

export interface ImportOptions {
  readonly client: OutboundClient;
  readonly check: CheckMedia;
  readonly limits: SizeLimits;
  /** For each download, from the first look-up to the last byte. */
  readonly totalMs: number;
  /** Where files are while they are checked. */
  readonly tempDir: string;
}

/** A file that was downloaded and found to be media. */
export interface ImportedFile {
  readonly path: string;
  readonly media: CheckedMedia;
}

/** The downloads of this process: so many at once, and none that goes on when it stops. */
export class Imports implements AsyncDisposable {
  readonly #options: ImportOptions;
  readonly #slots = new Slots(SLOTS);
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  /**
   * Downloads a file, checks it and hands it to `use`; it is gone afterwards, with all that lies beside it.
   *
   * @throws `invalid_request`, `address_not_allowed`, `import_failed`, `media_rejected`, `unavailable` when there is no
   * room or the process stops, and what `use` throws.
   */
  async run<T>(
    workspaceId: string,
    url: string,
    use: (file: ImportedFile) => Promise<T>,
  ): Promise<T> {
    const running = this.#slots.run(workspaceId, () =>
      withTempFolder(this.#options.tempDir, (folder) => this.#carryOut(folder, url, use)),
    );
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(unavailable());
    await Promise.allSettled(this.#running);
  }

  async #carryOut<T>(
    folder: string,
    url: string,
    use: (file: ImportedFile) => Promise<T>,
  ): Promise<T> {
    const { client, limits, totalMs } = this.#options;
    const { signal } = this.#stopping;
    const path = join(folder, "import");
    signal.throwIfAborted();
    await download(client, { url, path, limits, totalMs, signal });
    failpoint("media.import-downloaded");
    const media = await this.#check(path);
    return await use({ path, media });
  }

  async #check(path: string): Promise<CheckedMedia> {
    const result = await this.#options.check(path, undefined);
    if (result.kind === "unavailable") throw unavailable();
    if (result.kind === "checked") return result.media;
    const { code, limit, actual } = result.violation;
    throw unprocessable("media_rejected", [
      {
        code,
        ...(limit === undefined ? {} : { limit }),
        ...(actual === undefined ? {} : { actual }),
      },
    ]);
  }
}
