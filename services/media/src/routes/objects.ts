import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import { invalidRequest, notFound, unavailable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { findMedia } from "#src/db/media.ts";
import { parseRange, type Part } from "#src/domain/byte-range.ts";
import { patchBytes } from "#src/domain/patched-bytes.ts";
import { isRendition, toRendition, type Rendition } from "#src/domain/rendition.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

export interface ObjectRouteDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly logger: Logger;
  /** Ends answers that would keep the process from stopping; a reader goes on with the next part. */
  readonly stopping: AbortSignal;
}

interface ObjectRequest {
  Params: { workspaceId: string; mediaId: string };
  Querystring: { rendition?: unknown };
}

/** `GET|HEAD /objects/{workspaceId}/{mediaId}?rendition=original|delivery`: the bytes of ready media, whole or a part. */
export function createObjectRoutes(deps: ObjectRouteDeps): PlainRoutes {
  return (app) => {
    app.route<ObjectRequest>({
      method: ["GET", "HEAD"],
      url: "/objects/:workspaceId/:mediaId",
      handler: async (request, reply) => {
        const rendition = await findRendition(deps.sql, request.params, request.query.rendition);
        const part = chosenPart(request.raw, rendition);
        reply.headers({ "accept-ranges": "bytes", etag: `"${rendition.sha256}"` });
        if (part === "unsatisfiable")
          return await reply
            .status(416)
            .header("content-range", `bytes */${rendition.bytes}`)
            .send();
        const { start, length } = part ?? { start: 0, length: rendition.bytes };
        if (part !== undefined) {
          const last = start + length - 1;
          reply.status(206).header("content-range", `bytes ${start}-${last}/${rendition.bytes}`);
        }
        reply.headers({ "content-type": rendition.contentType, "content-length": length });
        if (request.method === "HEAD") return await reply.send();
        return await reply.send(await openPart(deps, rendition, { start, length }));
      },
    });
  };
}

async function findRendition(
  sql: Sql,
  { workspaceId, mediaId }: ObjectRequest["Params"],
  name: unknown = "original",
): Promise<Rendition> {
  if (!isRendition(name)) throw invalidRequest([{ code: "invalid", path: "/rendition" }]);
  if (!isId(workspaceId) || !isId(mediaId)) throw notFound();
  const media = await findMedia(sql, workspaceId, mediaId);
  const rendition = media === undefined ? undefined : toRendition(media, name);
  if (rendition === undefined) throw notFound();
  return rendition;
}

/** A part of another version than the caller has the rest of would be no use: then it gets the whole (RFC 9110, If-Range). */
function chosenPart({ headers }: IncomingMessage, { sha256, bytes }: Rendition) {
  const ifRange = headers["if-range"];
  if (ifRange !== undefined && ifRange !== `"${sha256}"`) return undefined;
  return parseRange(headers.range, bytes);
}

async function openPart(
  { store, logger, stopping }: ObjectRouteDeps,
  { key, bytes, patches }: Rendition,
  { start, length }: Part,
): Promise<Readable> {
  const object = await store.open(key, { start, length }, stopping).catch((error: unknown) => {
    logger.warn({ err: error, step: "open" }, "the object store did not give an object");
    throw unavailable(error);
  });
  // Deleted since the row was read.
  if (object === undefined) throw notFound();
  const content =
    patches.length === 0 ? object.content : patchBytes(object.content, start, patches);
  const stream =
    content instanceof Readable ? content : Readable.from(content, { objectMode: false });
  if (object.bytes === bytes) return stream;
  stream.destroy();
  throw new Error(`an object has ${object.bytes} bytes instead of ${bytes}`);
}
