import { ServiceError } from "@postrider/shared/errors";
import { watchUpload } from "@postrider/shared/http/long-transfers";
import { isId } from "@postrider/shared/ids";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Patience, ServerDeps } from "#src/routes/dependencies.ts";
import { type FailureLimit, openFailureLimit } from "#src/routes/hooks/address-limits.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

interface Upload {
  readonly Params: { readonly uploadPath: string };
  readonly Querystring: { readonly token?: unknown };
}

type Deps = Pick<ServerDeps, "mediaBytes"> & Pick<Patience, "transferRate">;

const BEARER = /^Bearer +([!-~]+) *$/i;
/**
 * Matches every text that can be the token of an upload grant. The token is sent to the media
 * service in a header, so it must not contain a character that a header cannot carry.
 */
const TOKEN = /^[!-~]{1,512}$/;
const OPTIONS = { schema: HIDDEN, config: { isRawBody: true, isCrossOrigin: true } };

function unknownUpload(): ServiceError {
  return new ServiceError("not_found", "not_found", [{ code: "unknown_upload" }]);
}

/**
 * Returns the token of the upload grant: a bearer token, or part of the URL for clients that cannot
 * send headers.
 *
 * @throws `not_found` for a text that is not the token of any upload grant.
 */
function tokenOf({ headers, query }: FastifyRequest<Upload>): string {
  const token = BEARER.exec(headers.authorization ?? "")?.[1] ?? query.token;
  if (typeof token !== "string" || !TOKEN.test(token)) throw unknownUpload();
  return token;
}

/**
 * Returns the upload path of the request, which is an id.
 *
 * @throws `not_found` for any other text: `..` would lead to another path of the media service,
 *   which the gateway calls with its own credentials.
 */
function uploadPathOf({ params }: FastifyRequest<Upload>): string {
  if (!isId(params.uploadPath)) throw unknownUpload();
  return params.uploadPath;
}

function isUnknownUpload(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === "not_found";
}

/**
 * Whether an upload counts as a failure: the media service does not know the upload grant, or the
 * client disconnected before the media service answered.
 */
function isFailure(error: unknown, { raw }: FastifyRequest): boolean {
  return isUnknownUpload(error) || (raw.destroyed && !raw.complete);
}

async function receive(
  { mediaBytes, transferRate, failures }: Deps & { readonly failures: FailureLimit },
  request: FastifyRequest<Upload>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // The remote address is read before the upload, because it is unknown once the connection is
  // closed.
  const address = request.ip;
  failures.check(address, reply);
  try {
    const uploadPath = uploadPathOf(request);
    const token = tokenOf(request);
    watchUpload(request.raw, reply.raw, transferRate);
    await mediaBytes.upload({
      uploadPath,
      token,
      address,
      requestId: request.id,
      source: request.raw,
    });
    return reply.status(204).send();
  } catch (error) {
    if (isFailure(error, request)) failures.count(address);
    throw isUnknownUpload(error) ? unknownUpload() : error;
  }
}

/**
 * `PUT /uploads/{uploadPath}` receives the bytes of an upload. The request needs an upload grant
 * instead of an API key and does not count towards the rate limit of the workspace. Only the media
 * service can check the upload grant. An address that sent too many unknown grants is refused
 * without a call to the media service. The body is not buffered: the client can send only as fast
 * as the media service reads.
 */
export function registerUploads(app: FastifyInstance, deps: Deps): void {
  const failures = openFailureLimit(app);
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The upload route reads the body from the connection itself, so the content parser reads
    // nothing.
    scope.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
    scope.put<Upload>("/uploads/:uploadPath", OPTIONS, (request, reply) =>
      receive({ ...deps, failures }, request, reply),
    );
    scope.options("/uploads/:uploadPath", OPTIONS, (_request, reply) => reply.status(204).send());
    done();
  });
}
