import {
  createMcpHandler,
  fromJsonSchema,
  localhostAllowedHostnames,
  McpServer,
  validateHostHeader,
} from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { ExpectedAnswer } from "#src/routes/answer.ts";
import { VERSION } from "#src/routes/api-paths.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf } from "#src/routes/request.ts";
import { HIDDEN } from "#src/routes/schemas.ts";
import { callTool } from "./call-tool.ts";
import { READ_TOOLS } from "./read-tools.ts";
import { createInputSchema, toOutputSchema } from "./tool-schemas.ts";
import type { Tool } from "./tool.ts";
import { WRITE_TOOLS } from "./write-tools.ts";

/** An MCP tool returns its result twice: as text, and as structured content. */
const COPIES = 2;

/**
 * Returns the name of the MCP tool that a JSON-RPC message calls; undefined for any other message.
 */
function toolNameOf(message: unknown): unknown {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === "tools/call" ? params?.name : undefined;
}

/**
 * Returns what the gateway knows about the answer to an agent's message before it calls the MCP
 * tool.
 */
function expectAnswer(tools: readonly Tool[], message: unknown): ExpectedAnswer {
  const name = toolNameOf(message);
  const tool = tools.find((each) => each.name === name);
  const isRead = tool === undefined || tool.isReadOnly === true;
  return { bytes: COPIES * (tool?.answerBytes ?? 0), isRead };
}

const TOOLS: readonly Tool[] = [...READ_TOOLS, ...WRITE_TOOLS];
/**
 * The body is a JSON-RPC message. The schema accepts any object, because the MCP library checks the
 * message.
 */
const ROUTE = {
  schema: { ...HIDDEN, body: Type.Object({}, { additionalProperties: true }) },
  config: { needsKey: true, expectAnswer: (body: unknown) => expectAnswer(TOOLS, body) },
};
const INSTRUCTIONS =
  "Postrider publishes posts to social accounts. Read the accounts and the posting rules first, validate a post, then create it as a draft. Publish only what the person has agreed to.";

interface Definition {
  readonly tool: Tool;
  readonly inputSchema: ReturnType<typeof createInputSchema>;
  readonly outputSchema: ReturnType<typeof fromJsonSchema>;
}

/**
 * Prepares the schemas of all MCP tools once; the API description is complete only when the server
 * is ready.
 */
function defineTools(app: FastifyInstance): readonly Definition[] {
  const { components } = app.swagger() as { components?: { schemas?: Record<string, unknown> } };
  return TOOLS.map((tool) => ({
    tool,
    inputSchema: createInputSchema(tool),
    outputSchema: fromJsonSchema(toOutputSchema(tool, components?.schemas ?? {})),
  }));
}

function createMcpServer(
  app: FastifyInstance,
  outer: FastifyRequest,
  definitions: readonly Definition[],
): McpServer {
  const server = new McpServer(
    { name: "postrider", version: VERSION },
    { instructions: INSTRUCTIONS },
  );
  for (const { tool, inputSchema, outputSchema } of definitions) {
    const { name, title, description, isReadOnly, isDestructive, isIdempotent } = tool;
    const annotations = {
      title,
      readOnlyHint: isReadOnly === true,
      destructiveHint: isDestructive === true,
      idempotentHint: isReadOnly === true || isIdempotent === true,
      openWorldHint: true,
    };
    server.registerTool(
      name,
      { title, description, inputSchema, outputSchema, annotations },
      async (input) =>
        await callTool(tool, input as Readonly<Record<string, unknown>>, {
          app,
          outer,
          caller: callerOf(outer),
        }),
    );
  }
  return server;
}

/**
 * Whether the request was sent to a host name that is not the gateway's, as by a web page that
 * rebinds its own name to this server.
 */
function isForeignHost({ headers }: FastifyRequest, publicUrl: string): boolean {
  const { ok } = validateHostHeader(headers.host, [
    new URL(publicUrl).hostname,
    ...localhostAllowedHostnames(),
  ]);
  return !ok;
}

/**
 * Whether a web page of another origin sends the request. Agents outside of browsers send no
 * `Origin`.
 */
function isForeignOrigin({ headers }: FastifyRequest, publicUrl: string): boolean {
  const { origin } = headers;
  return origin !== undefined && origin !== new URL(publicUrl).origin;
}

/**
 * Returns the header that shows that a web page of another origin sends the request; undefined if
 * none does.
 */
function findForeignHeader(request: FastifyRequest, publicUrl: string): string | undefined {
  if (isForeignHost(request, publicUrl)) return "Host";
  return isForeignOrigin(request, publicUrl) ? "Origin" : undefined;
}

/**
 * The body of an answer with status 403: a JSON-RPC error without an id, as the MCP specification
 * says (Transports, 2026-07-28).
 */
function toRefusal(header: string) {
  const message = `The header ${header} names another host than this server's PUBLIC_URL. Web pages of other origins may not use it.`;
  return { jsonrpc: "2.0", id: null, error: { code: -32_000, message } };
}

/**
 * Serves `POST /mcp`, the tools for agents (Model Context Protocol, specification 2026-07-28, and
 * clients of 2025). It keeps no session: each request is admitted by its API key, and each tool
 * goes through the operations of the REST API.
 */
export function registerMcp(app: FastifyInstance, deps: Pick<ServerDeps, "publicUrl">): void {
  let definitions: readonly Definition[] | undefined;
  app.post("/mcp", ROUTE, async (request, reply) => {
    const foreign = findForeignHeader(request, deps.publicUrl);
    if (foreign !== undefined) return await reply.status(403).send(toRefusal(foreign));
    const known = (definitions ??= defineTools(app));
    const handler = createMcpHandler(() => createMcpServer(app, request, known), {
      legacy: "stateless",
      // The MCP tools never change while the gateway runs, and the answer to a subscription to
      // their changes would never end.
      maxSubscriptions: 0,
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === "string") headers.set(name, value);
    const body = JSON.stringify(request.body);
    const answer = await handler.fetch(
      new Request(new URL("/mcp", deps.publicUrl), { method: "POST", headers, body }),
      { parsedBody: request.body },
    );
    return await reply
      .status(answer.status)
      .headers(Object.fromEntries(answer.headers))
      .send(await answer.text());
  });
}
