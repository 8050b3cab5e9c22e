import { join } from "node:path";
import { unavailable, unprocessable } from "@postrider/shared/errors";
import type { OutboundClient } from "@postrider/shared/http/outbound-client";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import type { InspectedMedia, InspectFile } from "#src/domain/inspected-media.ts";
import { toRejection } from "#src/domain/stored-media.ts";
import { withTempFolder } from "#src/storage/temp-folder.ts";
import { downloadFile } from "./download-file.ts";

/**
 * Limits on the number of concurrent imports of one process. Each import may need as much disk space as the largest
 * video. `perKey` limits each workspace, so that slow downloads of a few workspaces do not block all others.
 */
const IMPORT_LIMITS = { total: 40, perKey: 4, maxWaitMs: 10_000, maxWaiting: 200 };

export interface ImportOptions {
  readonly client: OutboundClient;
  readonly inspect: InspectFile;
  readonly limits: SizeLimits;
  /** Time limit of the download of an import, from the DNS lookup to the last byte. */
  readonly totalMs: number;
  /** Folder for the files under inspection. */
  readonly tempDir: string;
}

/** A downloaded file that passed its inspection. */
export interface ImportedFile {
  readonly path: string;
  readonly media: InspectedMedia;
}

/** Runs the imports of this process, limits their number, and aborts them when the process stops. */
export class Imports implements AsyncDisposable {
  readonly #options: ImportOptions;
  readonly #permits = new Semaphore(IMPORT_LIMITS);
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  /**
   * Downloads and inspects a file, passes it to `use`, and then deletes the downloaded file and the file that platforms
   * receive.
   *
   * @throws `invalid_request`, `address_not_allowed`, `import_failed`, `media_rejected`; `unavailable` when too many
   *   imports run or the process stops; and the errors of `use`.
   */
  async run<T>(
    workspaceId: string,
    url: string,
    use: (file: ImportedFile) => Promise<T>,
  ): Promise<T> {
    const running = this.#permits.run(
      () => withTempFolder(this.#options.tempDir, (folder) => this.#import(folder, url, use)),
      { key: workspaceId, signal: this.#stopping.signal },
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

  async #import<T>(
    folder: string,
    url: string,
    use: (file: ImportedFile) => Promise<T>,
  ): Promise<T> {
    const { client, limits, totalMs } = this.#options;
    const { signal } = this.#stopping;
    const path = join(folder, "import");
    signal.throwIfAborted();
    await downloadFile(client, { url, path, limits, totalMs, signal });
    failpoint("media.import-downloaded");
    const media = await this.#inspect(path);
    return await use({ path, media });
  }

  async #inspect(path: string): Promise<InspectedMedia> {
    const result = await this.#options.inspect(path, undefined);
    if (result.kind === "unavailable") throw unavailable();
    if (result.kind === "accepted") return result.media;
    throw unprocessable("media_rejected", [toRejection(result.violation)]);
  }
}
