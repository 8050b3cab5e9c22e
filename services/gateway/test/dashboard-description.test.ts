import { fileURLToPath } from "node:url";
import fastify from "fastify";
import { expect, test } from "vitest";
import { registerDashboard } from "#src/routes/dashboard/routes.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";

interface Route {
  readonly url: string;
  readonly method: string | readonly string[];
  readonly schema?: { readonly querystring?: unknown; readonly body?: unknown };
}

/** All routes of the dashboard, which no request reaches. */
async function listRoutes(): Promise<readonly Route[]> {
  const routes: Route[] = [];
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => String);
  app.addHook("onRoute", ({ url, method, schema }) => {
    routes.push({ url, method, ...(schema && { schema }) });
  });
  registerDashboard(app, { dashboardFolder: "/no/dashboard" } as ServerDeps);
  await app.ready();
  return routes;
}

/** What OpenAPI says of a route, as far as it tells where its requests take ids. */
function describe({ url, schema }: Route) {
  const { querystring, body } = schema ?? {};
  const query = (querystring as { readonly properties?: object } | undefined)?.properties;
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => ({
    in: "path",
    name,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query ?? {}).map(([name, each]) => ({
    in: "query",
    name,
    schema: each,
  }));
  return {
    parameters: [...inPath, ...inQuery],
    ...(body !== undefined && {
      requestBody: { content: { "application/json": { schema: body } } },
    }),
  };
}

// The end-to-end test of isolation reads the snapshot, and fails for a route that it does not know.
test("the list of the dashboard's routes and of what their requests take matches the committed snapshot", async () => {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of await listRoutes()) {
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}");
    const method = String(route.method);
    const operationId = `${method} ${path.replace("/app/api", "")}`;
    (paths[path] ??= {})[method.toLowerCase()] = { operationId, ...describe(route) };
  }
  const lines = Object.entries(paths).map((entry) =>
    entry.map((part) => JSON.stringify(part)).join(": "),
  );
  const text = `{"components": {"schemas": {}}, "paths": {\n${lines.join(",\n")}\n}}\n`;
  await expect(text).toMatchFileSnapshot(
    fileURLToPath(new URL("../dashboard-routes.json", import.meta.url)),
  );
});
