import type { IncomingMessage } from "node:http";
import { finished, Readable } from "node:stream";
import { callerOf, type PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { invalidRequest, notFound, unavailable } from "@postrider/shared/errors";
import { watchDownload } from "@postrider/shared/http/long-transfers";
import { assertIds, isId } from "@postrider/shared/ids";
import { TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import type { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
import type { Sql } from "@postrider/shared/postgres";
import { findMedia } from "#src/db/media.ts";
import { findRendition } from "#src/db/renditions.ts";
import { patchBytes } from "#src/domain/patched-bytes.ts";
import { toStoredRendition } from "#src/domain/rendition-plan.ts";
import {
  isFileName,
  toRenditionFile,
  toStoredFile,
  type FileName,
  type StoredFile,
  type StoredMedia,
} from "#src/domain/stored-media.ts";
import { parseRangeHeader, type ByteRange } from "#src/domain/transfer-headers.ts";
import type { RouteDependencies } from "#src/operations/dependencies.ts";

/**
 * Gateways end slow downloads of their clients earlier: this rate ends those of readers that have
 * disappeared.
 */
const RATE = { ...TRANSFER_RATE, stallMs: 2 * TRANSFER_RATE.stallMs };

interface ObjectRequest {
  Params: { workspaceId: string; mediaId: string };
  Querystring: { rendition?: unknown };
}

/**
 * `GET|HEAD /objects/{workspaceId}/{mediaId}?rendition=original|delivery|preview|<id>`: a file of
 * ready media, or a range of it; 204 for media without a preview.
 */
export function createObjectRoutes(
  deps: RouteDependencies & { readonly permitsOf: (caller: string) => Semaphore },
): PlainRoutes {
  return (app) => {
    app.route<ObjectRequest>({
      method: ["GET", "HEAD"],
      url: "/objects/:workspaceId/:mediaId",
      config: { callers: ["delivery", "gateway"] },
      handler: async (request, reply) => {
        const file = await findFile(deps, request.params, request.query.rendition);
        if (file === undefined) return await reply.status(204).send();
        const range = requestedRange(request.raw, file);
        reply.headers({ "accept-ranges": "bytes", etag: `"${file.sha256}"` });
        if (range === "unsatisfiable")
          return await reply.status(416).header("content-range", `bytes */${file.bytes}`).send();
        const { start, length } = range ?? { start: 0, length: file.bytes };
        if (range !== undefined) {
          const last = start + length - 1;
          reply.status(206).header("content-range", `bytes ${start}-${last}/${file.bytes}`);
        }
        reply.headers({ "content-type": file.contentType, "content-length": length });
        if (request.method === "HEAD") return await reply.send();
        const { workspaceId, mediaId } = request.params;
        const shares = transferShares({ workspaceId, file: mediaId });
        const permit = await deps.permitsOf(callerOf(request)).acquire({ shares });
        // `finished` also reports a connection that has been closed before.
        finished(reply.raw, () => permit[Symbol.dispose]());
        const content = await openRange(deps, file, { start, length });
        watchDownload(reply.raw, RATE);
        return await reply.send(content);
      },
    });
  };
}

async function findFile(
  { sql, findPreview }: RouteDependencies,
  { workspaceId, mediaId }: ObjectRequest["Params"],
  name: unknown = "original",
): Promise<StoredFile | undefined> {
  assertIds(workspaceId, mediaId);
  if (name === "preview") return await findPreview(await getReady(sql, workspaceId, mediaId));
  const isRendition = typeof name === "string" && isId(name);
  if (!isFileName(name) && !isRendition)
    throw invalidRequest([{ code: "invalid", path: "/rendition" }]);
  const file = isFileName(name)
    ? await findOwnFile(sql, { workspaceId, mediaId }, name)
    : await findRenditionFile(sql, { workspaceId, mediaId, id: name });
  if (file === undefined) throw notFound();
  return file;
}

async function getReady(sql: Sql, workspaceId: string, mediaId: string): Promise<StoredMedia> {
  const media = await findMedia(sql, workspaceId, mediaId);
  if (media?.status !== "ready") throw notFound();
  return media;
}

async function findOwnFile(
  sql: Sql,
  { workspaceId, mediaId }: ObjectRequest["Params"],
  name: FileName,
): Promise<StoredFile | undefined> {
  const media = await findMedia(sql, workspaceId, mediaId);
  return media === undefined ? undefined : toStoredFile(media, name);
}

async function findRenditionFile(
  sql: Sql,
  wanted: ObjectRequest["Params"] & { readonly id: string },
): Promise<StoredFile | undefined> {
  const row = await findRendition(sql, wanted);
  const rendition = row === undefined ? undefined : toStoredRendition(row);
  return rendition?.kind === "made" ? toRenditionFile(rendition) : undefined;
}

/** The whole file also when `If-Range` names another version (RFC 9110). */
function requestedRange({ headers }: IncomingMessage, { sha256, bytes }: StoredFile) {
  const ifRange = headers["if-range"];
  if (ifRange !== undefined && ifRange !== `"${sha256}"`) return undefined;
  return parseRangeHeader(headers.range, bytes);
}

async function openRange(
  { store, logger, stopping }: RouteDependencies,
  { key, bytes, patches }: StoredFile,
  { start, length }: ByteRange,
): Promise<Readable> {
  const object = await store.open(key, { start, length }, stopping).catch((error: unknown) => {
    logger.warn(
      { err: error, step: "open" },
      "a media file could not be read from the object store; check the object store",
    );
    throw unavailable(error);
  });
  // The media were deleted after their row was read.
  if (object === undefined) throw notFound();
  const content =
    patches.length === 0 ? object.content : patchBytes(object.content, start, patches);
  const stream =
    content instanceof Readable ? content : Readable.from(content, { objectMode: false });
  if (object.bytes === bytes) return stream;
  stream.destroy();
  throw new Error(`the object ${key} has ${object.bytes} bytes, but its row says ${bytes}`);
}
