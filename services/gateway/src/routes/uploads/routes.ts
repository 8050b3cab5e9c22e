import { ServiceError } from "@postrider/shared/errors";
import { watchUpload } from "@postrider/shared/http/long-transfers";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Patience, ServerDeps } from "#src/routes/dependencies.ts";
import { type FailureLimit, openFailureLimit } from "#src/routes/hooks/address-limits.ts";
import { HIDDEN } from "#src/routes/schemas.ts";
import type { Grant } from "#src/routes/uploads/upload-tokens.ts";

interface Upload {
  readonly Params: { readonly uploadPath: string };
  readonly Querystring: { readonly token?: unknown };
}

type Deps = Pick<ServerDeps, "mediaBytes" | "uploadTokens"> & Pick<Patience, "transferRate">;

const BEARER = /^Bearer +([!-~]+) *$/i;
const OPTIONS = { schema: HIDDEN, config: { isRawBody: true, isCrossOrigin: true } };

function unknownUpload(): ServiceError {
  return new ServiceError("not_found", "not_found", [{ code: "unknown_upload" }]);
}

/**
 * Returns the upload grant of the request, whose token is a bearer token, or part of the URL for
 * clients that cannot send headers. Undefined without a valid token.
 */
function findGrant(
  { uploadTokens }: Deps,
  { headers, query, params }: FastifyRequest<Upload>,
): Grant | undefined {
  const token = BEARER.exec(headers.authorization ?? "")?.[1] ?? query.token;
  return typeof token === "string" ? uploadTokens.read(params.uploadPath, token) : undefined;
}

async function receive(
  deps: Deps & { readonly failures: FailureLimit },
  request: FastifyRequest<Upload>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { mediaBytes, transferRate, failures } = deps;
  // The remote address is read before the upload, because it is unknown once the connection is
  // closed.
  const address = request.ip;
  const grant = findGrant(deps, request);
  if (grant === undefined) {
    failures.check(address, reply);
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
    return reply.status(204).send();
  } catch (error) {
    const isUnknown = error instanceof ServiceError && error.reason === "not_found";
    throw isUnknown ? unknownUpload() : error;
  }
}

/**
 * `PUT /uploads/{uploadPath}` receives the bytes of an upload. The request needs an upload grant
 * instead of an API key and does not count towards the rate limit of the workspace. A request
 * without a valid token does not reach the media service, and an address that sent too many of them
 * is answered with 429. The body is not buffered: the client can send only as fast as the media
 * service reads.
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
