import type { Media } from "@postrider/contracts/media/v1/media_pb";
import { notFound } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseRange } from "#src/http/byte-range.ts";
import { toContentDisposition } from "#src/http/content-disposition.ts";
import { matchesAny } from "#src/http/entity-tags.ts";
import type { ServerDeps } from "#src/routes/deps.ts";
import { openFailureLimit } from "#src/routes/hooks/failure-limit.ts";
import type { MediaClaims } from "#src/routes/media/links.ts";
import { HIDDEN } from "#src/routes/schema.ts";

interface Download {
  readonly Params: { readonly token: string };
}

type Deps = Pick<ServerDeps, "media" | "mediaBytes" | "links">;

/** What there is behind an address. */
interface File {
  readonly contentType: string;
  readonly bytes: bigint;
  readonly etag: string;
  readonly fileName: string;
}

/** A reader that takes nothing for so long has gone. */
const STALL_MS = 60_000;

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

/** Media that is not ready yet, or is being deleted, is not there. */
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
    // It may be kept, but is asked for again each time: what is deleted must not be seen any more.
    "cache-control": "private, no-cache",
    // Pages of the client's own show it.
    "cross-origin-resource-policy": "cross-origin",
  });
}

/** What to ask media for; undefined is all of it. A part of another version than the client has the rest of is no use. */
function rangeOf({ headers }: FastifyRequest, { etag }: File): string | undefined {
  const condition = headers["if-range"];
  return condition === undefined || condition === etag ? parseRange(headers.range) : undefined;
}

async function sendBytes(
  { mediaBytes }: Pick<Deps, "mediaBytes">,
  request: FastifyRequest,
  reply: FastifyReply,
  object: Parameters<Deps["mediaBytes"]["open"]>[0],
): Promise<FastifyReply> {
  const { status, headers, body } = await mediaBytes.open(object);
  for (const name of ["content-length", "content-range"])
    if (typeof headers[name] === "string") reply.header(name, headers[name]);
  if (status === 416) return reply.status(416).removeHeader("content-length").send();
  request.raw.socket.setTimeout(STALL_MS);
  return reply.status(status).send(body);
}

/**
 * `GET /media/{token}` sends the bytes of media to who has its address, without a key, cookie or redirect and beside the
 * request budget. Whatever is wrong with the address, there is nothing here, and who comes with too many wrong ones waits;
 * right ones are sent all the same.
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
