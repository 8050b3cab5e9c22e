import type { Media } from "@postrider/contracts/media/v1/media_pb";
import { isProbe, type MediaClaims } from "@postrider/rest/media/links";
import { notFound } from "@postrider/shared/errors";
import { watchDownload } from "@postrider/shared/http/long-transfers";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseRange } from "#src/http/byte-range.ts";
import { toContentDisposition } from "#src/http/content-disposition.ts";
import { matchesAny } from "#src/http/entity-tags.ts";
import type { Patience, ServerDeps } from "#src/routes/dependencies.ts";
import { openFailureLimit } from "#src/routes/hooks/address-limits.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

interface Download {
  readonly Params: { readonly token: string };
}

type Deps = Pick<ServerDeps, "media" | "mediaBytes" | "links"> & Pick<Patience, "transferRate">;

interface File {
  readonly contentType: string;
  readonly bytes: bigint;
  readonly etag: string;
  readonly fileName: string;
}

function toOriginal({ contentType, bytes, sha256, fileName }: Media): File {
  return { contentType, bytes, etag: `"${sha256}"`, fileName };
}

function toDelivery(media: Media): File {
  const { deliveryContentType: contentType, deliveryBytes: bytes, deliverySha256 } = media;
  return {
    contentType,
    bytes,
    etag: `"${deliverySha256}"`,
    fileName: fileNameOf(media, contentType),
  };
}

/** Returns the name of a file that was made from media, whose extension fits its type. */
function fileNameOf(media: Media, contentType: string): string {
  if (contentType === media.contentType) return media.fileName;
  const extension = EXTENSIONS[contentType];
  if (extension === undefined) return media.fileName;
  return `${media.fileName.replace(/\.\w{1,10}$/, "")}.${extension}`;
}

const EXTENSIONS: Readonly<Record<string, string>> = { "image/jpeg": "jpg", "image/png": "png" };

/**
 * Finds the media file of a download.
 *
 * @throws `not_found`, also for media that is not ready or is being deleted.
 */
async function getFile(
  { media, mediaBytes }: Pick<Deps, "media" | "mediaBytes">,
  claims: MediaClaims,
  requestId: string,
): Promise<File> {
  const { workspaceId, mediaId, rendition } = claims;
  const answer = await media.batchGetMedia({ workspaceId, ids: [mediaId] });
  const found = answer.media.find(({ id, status }) => id === mediaId && status === "ready");
  if (found === undefined) throw notFound();
  if (rendition === "original") return toOriginal(found);
  if (rendition === "delivery") return toDelivery(found);
  const file = await mediaBytes.describe({ ...claims, requestId });
  return { ...file, fileName: fileNameOf(found, file.contentType) };
}

function setHeaders(reply: FastifyReply, { contentType, etag, fileName }: File): void {
  reply.headers({
    etag,
    "content-type": contentType,
    "content-disposition": toContentDisposition(fileName),
    "accept-ranges": "bytes",
    // A cache must ask the gateway each time before it reuses its copy, so that deleted media is
    // not shown any more.
    "cache-control": "private, no-cache",
    // Web pages of other origins may embed media files.
    "cross-origin-resource-policy": "cross-origin",
  });
}

/**
 * Returns the range to request from the media service; undefined for the whole file, also when
 * `If-Range` names another version of the file.
 */
function rangeOf({ headers }: FastifyRequest, { etag }: File): string | undefined {
  const condition = headers["if-range"];
  return condition === undefined || condition === etag ? parseRange(headers.range) : undefined;
}

async function sendBytes(
  { mediaBytes, transferRate }: Pick<Deps, "mediaBytes" | "transferRate">,
  request: FastifyRequest,
  reply: FastifyReply,
  object: Parameters<Deps["mediaBytes"]["open"]>[0],
): Promise<FastifyReply> {
  const { status, headers, body } = await mediaBytes.open(object);
  for (const name of ["content-length", "content-range"])
    if (typeof headers[name] === "string") reply.header(name, headers[name]);
  if (status === 416) return reply.status(416).removeHeader("content-length").send();
  watchDownload(reply.raw, transferRate);
  return reply.status(status).send(body);
}

/**
 * `GET /media/{token}` sends the bytes of a media file to anyone who has its URL: without API key,
 * cookie or redirect, and outside the rate limit of the workspace. An invalid URL of any form is
 * answered with `not_found`. A remote address that sent too many wrong tokens is rate-limited, but
 * valid tokens still work.
 */
export function registerDownload(app: FastifyInstance, deps: Deps): void {
  const failures = openFailureLimit(app);
  const download = async (request: FastifyRequest<Download>, reply: FastifyReply) => {
    const claims = deps.links.read(request.params.token);
    if (claims === undefined) {
      failures.check(request.ip, reply);
      failures.count(request.ip);
      throw notFound();
    }
    if (isProbe(claims)) return reply.status(204).send();
    // The calls count to the workspace of the file, which is all that a token says of its reader.
    const context = { requestId: request.id, ...findContext(), workspaceId: claims.workspaceId };
    const file = await runInContext(context, () => getFile(deps, claims, request.id));
    setHeaders(reply, file);
    if (matchesAny(request.headers["if-none-match"], file.etag)) return reply.status(304).send();
    if (request.method === "HEAD")
      return reply.header("content-length", file.bytes.toString()).send();
    const range = rangeOf(request, file);
    return await sendBytes(deps, request, reply, { ...claims, range, requestId: request.id });
  };
  app.route<Download>({
    method: ["GET", "HEAD"],
    url: "/media/:token",
    schema: HIDDEN,
    exposeHeadRoute: false,
    handler: download,
  });
}
