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

/** The grant as a bearer token, or in the address, for clients that only have that. */
function tokenOf({ headers, query }: FastifyRequest<Upload>): string | undefined {
  const bearer = BEARER.exec(headers.authorization ?? "")?.[1];
  return bearer ?? (typeof query.token === "string" ? query.token : undefined);
}

/**
 * `PUT /uploads/{uploadPath}` takes the bytes of an upload, without a key and beside the request budget: the grant says
 * who may. Nothing is collected here: what media does not take, the client cannot send.
 */
export function registerUploads(app: FastifyInstance, { mediaBytes, longBodies }: Deps): void {
  const options = {
    schema: HIDDEN,
    config: { isRawBody: true, isCrossOrigin: true },
  };
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The handler reads the connection itself.
    scope.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
    scope.put<Upload>("/uploads/:uploadPath", options, async (request, reply) => {
      const token = tokenOf(request);
      const { uploadPath } = request.params;
      if (token === undefined || token === "" || uploadPath === "") throw notFound();
      using _body = longBodies.receive(request.raw);
      await mediaBytes.upload({ uploadPath, token, requestId: request.id, source: request.raw });
      return reply.status(204).send();
    });
    scope.options("/uploads/:uploadPath", options, (_request, reply) => reply.status(204).send());
    done();
  });
}
