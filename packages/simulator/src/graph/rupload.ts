import { tokenOf } from "#src/graph/endpoint.ts";
import { type GraphHost, receivedBytes, type Upload, type Uploads } from "#src/graph/host.ts";
import { type Call, type Moment, Refused, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";

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

function requireUpload({ tokens, uploads }: GraphHost, call: Call, now: number): Upload {
  const check = tokens.check(tokenOf(call), now);
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

function upload(host: GraphHost, call: Call, moment: Moment): Reply {
  const { uploads } = host;
  const present = requireUpload(host, call, moment.now);
  if (present.completedAt !== null)
    return refuseUpload("OffsetInvalidError", "the upload is already complete", false);
  const url = addressOf(call);
  return url === undefined
    ? push(uploads, present, call, moment.now)
    : pull(uploads, present, url, moment);
}

/** Bytes of an interrupted request are kept, and the next request continues after them. */
export function ruploadRoute(host: GraphHost, edge: string): Route {
  return {
    method: "POST",
    path: `/rupload/${edge}/:version/:id`,
    operations: () => ["upload"],
    fetches: (call) => [addressOf(call) ?? []].flat(),
    handle: (call, moment) => upload(host, call, moment),
  };
}

export function ruploadUrl({ baseUrl }: Call, edge: string, version: string, id: string): string {
  return `${baseUrl}/rupload/${edge}/${version}/${id}`;
}
