import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen, type Listening } from "@postrider/shared/testing/listen";

/**
 * A deliberately faulty handler of REST requests. It returns undefined for requests that the real
 * gateway must answer.
 */
export type BrokenHandler = (
  request: { readonly method: string; readonly path: string; readonly body: string },
  real: () => Promise<Response>,
) => Promise<{ readonly status: number; readonly body: unknown } | undefined>;

/**
 * Starts a proxy that forwards requests to the real gateway, except those that a deliberately
 * faulty handler answers.
 */
export async function plantGateway(real: string, broken: BrokenHandler): Promise<Listening> {
  const server = createServer((request, response) => {
    const { method = "GET", url = "/" } = request;
    const { authorization = "", "content-type": type = "" } = request.headers;
    const workspace = request.headers["x-workspace-id"];
    const answer = async (): Promise<void> => {
      const body = (await buffer(request)).toString();
      const ask = () =>
        fetch(`${real}${url}`, {
          method,
          headers: {
            authorization,
            ...(type === "" ? {} : { "content-type": type }),
            ...(typeof workspace === "string" ? { "x-workspace-id": workspace } : {}),
          },
          ...(body === "" ? {} : { body }),
        });
      const wrong = await broken({ method, path: url, body }, ask);
      if (wrong !== undefined) {
        response.writeHead(wrong.status).end(JSON.stringify(wrong.body));
        return;
      }
      const right = await ask();
      response.writeHead(right.status).end(Buffer.from(await right.arrayBuffer()));
    };
    answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return await listen(server);
}
