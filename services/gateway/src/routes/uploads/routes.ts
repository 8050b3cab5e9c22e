import { ServiceError } from "@postrider/shared/errors";
import { watchUpload } from "@postrider/shared/http/long-transfers";
import { isId } from "@postrider/shared/ids";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Patience, ServerDeps } from "#src/routes/dependencies.ts";
import { type FailureLimit, openFailureLimit } from "#src/routes/hooks/address-limits.ts";
import { HIDDEN } from "#src/routes/schemas.ts";
import type { OpenGrants } from "#src/routes/uploads/open-grants.ts";

interface Upload {
  readonly Params: { readonly uploadPath: string };
  readonly Querystring: { readonly token?: unknown };
}

type Deps = Pick<ServerDeps, "mediaBytes"> &
  Pick<Patience, "transferRate"> & { readonly grants: OpenGrants };
type Grant = Parameters<OpenGrants["has"]>[0];

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
 * Returns the upload grant of the request, whose token is a bearer token, or part of the URL for
 * clients that cannot send headers. Undefined for what cannot be a grant: a path of `..` would lead
 * to another path of the media service, which the gateway calls with its own credentials.
 */
function findGrant({ headers, query, params }: FastifyRequest<Upload>): Grant | undefined {
  const { uploadPath } = params;
  const uploadToken = BEARER.exec(headers.authorization ?? "")?.[1] ?? query.token;
  if (typeof uploadToken !== "string" || !TOKEN.test(uploadToken)) return undefined;
  return isId(uploadPath) ? { uploadPath, uploadToken } : undefined;
}

function isUnknownUpload(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === "not_found";
}

/** Whether the media service found the upload grant, but refused what was sent with it. */
function isFaultOfBody(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.kind === "invalid" || error.kind === "unprocessable")
  );
}

/**
 * Counts an upload as a failure if the media service does not know its grant, or if the client
 * disconnected before the media service answered. The latter counts only for a grant that may not
 * exist: a client could otherwise try tokens without a limit by disconnecting early.
 */
function settle(
  { grants, failures }: Pick<Deps, "grants"> & { readonly failures: FailureLimit },
  upload: { readonly address: string; readonly grant: Grant },
  { error, isCut }: { readonly error: unknown; readonly isCut: boolean },
): void {
  const { address, grant } = upload;
  if (isUnknownUpload(error)) grants.remove(grant);
  else if (!isCut && isFaultOfBody(error)) grants.add(grant);
  if (isUnknownUpload(error) || (isCut && !grants.has(grant))) failures.count(address);
}

async function receive(
  deps: Deps & { readonly failures: FailureLimit },
  request: FastifyRequest<Upload>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { mediaBytes, transferRate, failures, grants } = deps;
  // The remote address is read before the upload, because it is unknown once the connection is
  // closed.
  const address = request.ip;
  const grant = findGrant(request);
  if (grant === undefined || !grants.has(grant)) failures.check(address, reply);
  if (grant === undefined) {
    failures.count(address);
    throw unknownUpload();
  }
  const { uploadPath, uploadToken: token } = grant;
  try {
    watchUpload(request.raw, reply.raw, transferRate);
    await mediaBytes.upload({
      uploadPath,
      token,
      address,
      requestId: request.id,
      source: request.raw,
    });
    grants.remove(grant);
    return reply.status(204).send();
  } catch (error) {
    const isCut = request.raw.destroyed && !request.raw.complete;
    settle(deps, { address, grant }, { error, isCut });
    throw isUnknownUpload(error) ? unknownUpload() : error;
  }
}

/**
 * `PUT /uploads/{uploadPath}` receives the bytes of an upload. The request needs an upload grant
 * instead of an API key and does not count towards the rate limit of the workspace. Only the media
 * service can check the upload grant. An address that sent too many unknown grants is refused
 * without a call to the media service, except for grants that this gateway knows. The body is not
 * buffered: the client can send only as fast as the media service reads.
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
