import { tokenOf } from "#src/graph/endpoint.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { answering, type Call, type Moment, Refused, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Table } from "#src/store/table.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";

export interface Upload {
  readonly id: string;
  readonly owner: string;
  readonly pieces: readonly number[];
  readonly completedAt: number | null;
  /** Null while bytes are missing, and when the file is neither an image nor a video. */
  readonly received: ReceivedMedia | null;
}

export function receivedBytes({ pieces }: Upload): number {
  return pieces.reduce((sum, bytes) => sum + bytes, 0);
}

export class Uploads {
  readonly #rows: Table<Upload>;
  readonly #host: GraphHost;

  constructor(host: GraphHost) {
    this.#host = host;
    this.#rows = host.world.store.table<Upload>(`${host.platform}.uploads`);
  }

  begin(id: string, owner: string): Upload {
    const upload: Upload = { id, owner, pieces: [], completedAt: null, received: null };
    this.#rows.put(id, upload);
    return upload;
  }

  find(id: string): Upload | undefined {
    return this.#rows.get(id);
  }

  append(upload: Upload, bytes: Buffer): Upload {
    this.#host.world.pieces.put(this.#nameOf(upload, upload.pieces.length), bytes);
    const next = { ...upload, pieces: [...upload.pieces, bytes.length] };
    this.#rows.put(upload.id, next);
    return next;
  }

  complete(upload: Upload, now: number): Upload {
    const { pieces } = this.#host.world;
    const names = upload.pieces.map((_bytes, index) => this.#nameOf(upload, index));
    const received = receive(names.values().map((name) => pieces.get(name))) ?? null;
    for (const name of names) pieces.drop(name);

    const done = { ...upload, completedAt: now, received };
    this.#rows.put(upload.id, done);
    return done;
  }

  #nameOf({ id }: Upload, index: number): string {
    return `${this.#host.platform}-${id}-${index}`;
  }
}

function refuseUpload(type: string, message: string, retriable: boolean, status = 400): never {
  throw new Refused({ status, body: { debug_info: { retriable, type, message } } });
}

function numberHeader(call: Call, name: string): number {
  const text = call.headers[name];
  return typeof text === "string" && /^\d{1,15}$/.test(text)
    ? Number(text)
    : refuseUpload("ParamError", `the header ${name} is missing or not a number`, false);
}

function addressOf(call: Call): string | undefined {
  const url = call.headers["file_url"];
  return typeof url === "string" ? url : undefined;
}

function requireUpload(host: GraphHost, uploads: Uploads, call: Call, now: number): Upload {
  const check = host.tokens.check(tokenOf(call), now);
  if (check.kind === "refused")
    return refuseUpload("NotAuthorizedError", "the access token is not valid", false, 401);

  const upload = uploads.find(call.params["id"] ?? "");
  return upload === undefined || upload.owner !== check.token.account
    ? refuseUpload(
        "NotAuthorizedError",
        "the upload does not exist or belongs to another account",
        false,
        404,
      )
    : upload;
}

const DONE: Reply = { status: 200, body: { success: true, message: "Upload successful." } };

function pull(uploads: Uploads, upload: Upload, url: string, { fetched, now }: Moment): Reply {
  const file = fetched.get(url);
  if (file?.kind !== "file" || !/^(?:image|video)\//.test(file.contentType))
    return refuseUpload("ProcessingFailedError", "the file could not be fetched", true);

  uploads.complete(uploads.append(upload, file.bytes), now);
  return DONE;
}

function push(uploads: Uploads, upload: Upload, call: Call, now: number): Reply {
  const offset = numberHeader(call, "offset");
  const size = numberHeader(call, "file_size");
  const present = receivedBytes(upload);
  if (offset !== present)
    refuseUpload(
      "OffsetInvalidError",
      `the upload continues at offset ${present}, not at ${offset}`,
      true,
    );

  if (size === 0 || offset + call.body.length > size)
    refuseUpload("ParamError", "file_size is 0 or smaller than the end of the bytes", false);

  const next = call.body.length === 0 ? upload : uploads.append(upload, call.body);
  if (receivedBytes(next) < size)
    refuseUpload("PartialRequestError", "the upload is not complete: bytes are missing", true);

  uploads.complete(next, now);
  return DONE;
}

function upload(host: GraphHost, uploads: Uploads, call: Call, moment: Moment): Reply {
  const present = requireUpload(host, uploads, call, moment.now);
  if (present.completedAt !== null)
    return refuseUpload("OffsetInvalidError", "the upload is already complete", false);

  const url = addressOf(call);
  return url === undefined
    ? push(uploads, present, call, moment.now)
    : pull(uploads, present, url, moment);
}

/** Bytes of an interrupted request are kept, and the next request continues after them. */
export function ruploadRoute(host: GraphHost, uploads: Uploads, edge: string): Route {
  return {
    method: "POST",
    path: `/rupload/${edge}/:version/:id`,
    operations: () => ["upload"],
    fetches: (call) => [addressOf(call) ?? []].flat(),
    handle: (call, moment) => answering(() => upload(host, uploads, call, moment)),
  };
}

export function ruploadUrl({ baseUrl }: Call, edge: string, version: string, id: string): string {
  return `${baseUrl}/rupload/${edge}/${version}/${id}`;
}
