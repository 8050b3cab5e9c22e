import { notFound } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ServerDeps } from "#src/routes/deps.ts";
import { HIDDEN } from "#src/routes/schema.ts";
import type { LongBodies } from "#src/routes/uploads/long-bodies.ts";

interface Upload {
  readonly Params: { readonly uploadPath: string };
  readonly Querystring: { readonly token?: unknown };
}

type Deps = Pick<ServerDeps, "mediaBytes"> & { readonly longBodies: LongBodies };

const BEARER = /^Bearer +([!-~]+) *$/i;
const OPTIONS = { schema: HIDDEN, config: { isRawBody: true, isCrossOrigin: true } };

/** The grant as a bearer token, or in the address, for clients that only have that. */
function tokenOf({ headers, query }: FastifyRequest<Upload>): string {
  const bearer = BEARER.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer;
  if (typeof query.token !== "string" || query.token === "") throw notFound();
  return query.token;
}

/**
 * `PUT /uploads/{uploadPath}` takes the bytes of an upload, without a key and beside the request budget: the grant says
 * who may. Nothing is collected here: what media does not take, the client cannot send.
 */
export function registerUploads(app: FastifyInstance, { mediaBytes, longBodies }: Deps): void {
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The handler reads the connection itself.
    scope.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
    scope.put<Upload>("/uploads/:uploadPath", OPTIONS, async (request, reply) => {
      const { uploadPath } = request.params;
      const token = tokenOf(request);
      longBodies.add(request.raw, reply.raw);
      await mediaBytes.upload({ uploadPath, token, requestId: request.id, source: request.raw });
      return reply.status(204).send();
    });
    scope.options("/uploads/:uploadPath", OPTIONS, (_request, reply) => reply.status(204).send());
    done();
  });
}
