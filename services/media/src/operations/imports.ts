import { open } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError, unavailable, unprocessable } from "@postrider/shared/errors";
import type { OutboundClient } from "@postrider/shared/http/outbound-client";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { type SizeLimits, UNKNOWN_TYPE } from "#src/domain/accepted-types.ts";
import { describeNotMedia, type Answered } from "#src/domain/download-failure.ts";
import type { InspectedMedia, InspectFile } from "#src/domain/inspected-media.ts";
import { toRejection } from "#src/domain/stored-media.ts";
import type { TempSpace } from "#src/storage/temp-space.ts";
import { type Download, downloadFile } from "./download-file.ts";

const IMPORT_LIMITS = { total: 40, maxWaitMs: 10_000, maxWaiting: 200, maxWaitingPerShare: 25 };
/** Maximum number of imports per workspace in one process. Further imports wait. */
const MAX_PER_WORKSPACE = 4;
const START_BYTES = 1024;

export interface ImportOptions {
  readonly client: OutboundClient;
  readonly inspect: InspectFile;
  readonly limits: SizeLimits;
  readonly totalMs: number;
  readonly space: TempSpace;
  readonly logger: Logger;
}

interface Import {
  readonly workspaceId: string;
  readonly url: string;
}

export interface ImportedFile {
  readonly path: string;
  readonly media: InspectedMedia;
}

/** Limits imports, and aborts them when the process stops. */
export class Imports implements AsyncDisposable {
  readonly #options: ImportOptions;
  readonly #permits = new Semaphore(IMPORT_LIMITS);
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  /**
   * Passes a downloaded and inspected file to `use`, and then deletes its temporary files.
   *
   * @throws `invalid_request`, `address_not_allowed`, `import_failed`, `media_rejected`;
   *   `unavailable` when too many imports run, the temporary folder cannot be written or the
   *   process stops; and the errors of `use`.
   */
  async run<T>(
    workspaceId: string,
    url: string,
    use: (file: ImportedFile) => Promise<T>,
  ): Promise<T> {
    const { space } = this.#options;
    const shares = [
      ...transferShares({ workspaceId }),
      { key: `imports of ${workspaceId}`, max: MAX_PER_WORKSPACE },
    ];
    const running = this.#permits.run(
      () => space.withFolder((folder) => this.#import(folder, { workspaceId, url }, use)),
      { shares, signal: this.#stopping.signal },
    );
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw this.#toKnownError(error, workspaceId);
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
    { workspaceId, url }: Import,
    use: (file: ImportedFile) => Promise<T>,
  ): Promise<T> {
    const { client, limits, totalMs, space } = this.#options;
    const { signal } = this.#stopping;
    const path = join(folder, "import");
    signal.throwIfAborted();
    using reserved = new DisposableStack();
    const reserve: Download["reserve"] = async (part) => {
      reserved.use(await space.reserve({ workspaceId, signal, ...part }));
    };
    const contentType = await downloadFile(client, { url, path, limits, totalMs, signal, reserve });
    failpoint("media.import-downloaded");
    const media = await this.#inspect(path, { url, contentType, workspaceId });
    return await use({ path, media });
  }

  /** A failure of the disk is `unavailable`, whose cause is logged. */
  #toKnownError(error: unknown, workspaceId: string): unknown {
    const known = isDiskError(error) ? unavailable(error) : error;
    if (
      known instanceof ServiceError &&
      known.reason === "unavailable" &&
      known.cause !== undefined
    )
      this.#options.logger.warn(
        { err: known.cause, workspaceId, step: "import" },
        "a media import failed because of an error of the temporary folder or the object store; check both. The client may repeat the import",
      );
    return known;
  }

  async #inspect(
    path: string,
    {
      workspaceId,
      ...answered
    }: Pick<Answered, "url" | "contentType"> & Pick<Import, "workspaceId">,
  ): Promise<InspectedMedia> {
    const result = await this.#options.inspect(path, undefined, workspaceId);
    if (result.kind === "unavailable") throw unavailable();
    if (result.kind === "accepted") return result.media;
    const { violation } = result;
    const known =
      violation.code === "media_type_unsupported"
        ? describeNotMedia({
            ...answered,
            start: await readStart(path),
            isKnown: violation.found !== UNKNOWN_TYPE,
          })
        : undefined;
    throw unprocessable("media_rejected", [known ?? toRejection(violation)]);
  }
}

async function readStart(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && "errno" in error && "syscall" in error;
}
