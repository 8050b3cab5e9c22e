import { notFound, ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import { checkPermission } from "#src/routes/hooks/admission.ts";

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

function toPattern(url: string): RegExp {
  const parts = url
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("/")}$`);
}

/** A known path with another method is 405 and names the methods that it has; any other path is 404. */
export function addKnownPaths(app: FastifyInstance): void {
  const known = new Map<string, KnownPath>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = known.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() };
    for (const name of Array.isArray(method) ? method : [method]) path.methods.add(name);
    known.set(url, path);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const methods = known.values().find(({ pattern }) => pattern.test(path))?.methods;
    if (methods === undefined) throw notFound();
    reply.header("allow", [...methods].toSorted().join(", "));
    throw new ServiceError("invalid", "method_not_allowed");
  });
  app.addHook("onRequest", (request, _reply, done) =>
    done(request.is404 ? undefined : checkPermission(request)),
  );
}
