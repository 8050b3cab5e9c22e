import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defined } from "#src/http/defined.ts";
import { findSimilarOperation, findSimilarPath, type KnownPath } from "#src/http/path-advice.ts";
import { API_PATH } from "#src/routes/api-paths.ts";
import { checkPermission } from "#src/routes/hooks/admission.ts";

function toPattern(url: string): RegExp {
  const parts = url
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("/")}$`);
}

/**
 * Returns the error for a path that does not exist, with the path of the API that is most similar.
 */
function unknownPath(path: string, paths: readonly string[]): ServiceError {
  const violation = {
    code: "unknown_path",
    ...defined({ expected: findSimilarPath(path, paths) }),
  };
  return new ServiceError("not_found", "not_found", [violation]);
}

/**
 * Answers a request to a known path with an unknown method with 405 and the methods of the path,
 * and a request to any other path with 404.
 */
export function addKnownPaths(app: FastifyInstance): void {
  const known = new Map<string, KnownPath & { readonly methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = known.get(url) ?? { url, pattern: toPattern(url), methods: new Set<string>() };
    for (const name of Array.isArray(method) ? method : [method]) path.methods.add(name);
    known.set(url, path);
  });
  const apiPaths: string[] = [];
  app.addHook("onReady", (done) => {
    for (const url of known.keys())
      if (url.startsWith(API_PATH)) apiPaths.push(url.replaceAll(/:(\w+)/g, "{$1}"));
    done();
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply): ServiceError | undefined => {
    const path = request.url.split("?", 1)[0] ?? "";
    // Paths without parameters are compared first. Otherwise GET /posts/validate would count as the
    // path of a post with the id validate.
    const fixed = known.get(path);
    if (!request.is404 && (fixed === undefined || fixed.methods.has(request.method)))
      return undefined;
    const methods = (fixed ?? known.values().find(({ pattern }) => pattern.test(path)))?.methods;
    if (methods === undefined) return unknownPath(path, apiPaths);
    const allowed = [...methods].toSorted();
    reply.header("allow", allowed.join(", "));
    const expected = findSimilarOperation(request.method, path, [...known.values()]);
    const advice = defined({ found: request.method, expected });
    return new ServiceError("invalid", "method_not_allowed", [
      { code: "method_not_allowed", ...advice, allowed },
    ]);
  };
  // The path and the permissions are checked before the body of the request is read, because a body
  // that is too large would otherwise be refused first.
  app.addHook("onRequest", (request, reply, done) =>
    done(refuse(request, reply) ?? checkPermission(request)),
  );
  app.setNotFoundHandler(({ url }) => {
    throw unknownPath(url.split("?", 1)[0] ?? "", apiPaths);
  });
}
