import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaClaims } from "@postrider/rest/media/links";
import { isProbe } from "@postrider/rest/media/probe-link";
import { notFound } from "@postrider/shared/errors";
import { watchDownload } from "@postrider/shared/http/long-transfers";
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

/** The media file to which a download URL leads. */
interface File {
  readonly contentType: string;
  readonly bytes: bigint;
  readonly etag: string;
  readonly fileName: string;
}

function toFile(media: Media, rendition: string): File {
  const { fileName } = media;
  if (rendition !== "delivery") {
    return {
      contentType: media.contentType,
      bytes: media.bytes,
      etag: `"${media.sha256}"`,
      fileName,
    };
  }
  const etag = `"${media.deliverySha256}"`;
  return { contentType: media.deliveryContentType, bytes: media.deliveryBytes, etag, fileName };
}

/** Finds the media file of a download. @throws `not_found`, also for media that is not ready or is being deleted. */
async function getFile({ media }: Pick<Deps, "media">, claims: MediaClaims): Promise<File> {
  const { workspaceId, mediaId, rendition } = claims;
  const answer = await media.batchGetMedia({ workspaceId, ids: [mediaId] });
  const found = answer.media.find(({ id, status }) => id === mediaId && status === "ready");
  if (found === undefined) throw notFound();
  return toFile(found, rendition);
}

function setHeaders(reply: FastifyReply, { contentType, etag, fileName }: File): void {
  reply.headers({
    etag,
    "content-type": contentType,
    "content-disposition": toContentDisposition(fileName),
    "accept-ranges": "bytes",
    // A cache must ask the gateway each time before it reuses its copy, so that deleted media is not shown any more.
    "cache-control": "private, no-cache",
    // Web pages of other origins may embed media files.
    "cross-origin-resource-policy": "cross-origin",
  });
}

/**
 * Returns the range to request from the media service; undefined for the whole file, also when `If-Range` names another
 * version of the file.
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
 * `GET /media/{token}` sends the bytes of a media file to anyone who has its URL: without API key, cookie or redirect,
 * and outside the rate limit of the workspace. Every fault of the URL is answered with `not_found`. A remote address
 * that sent too many wrong tokens is rate-limited, but valid tokens still work.
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
    const file = await getFile(deps, claims);
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
