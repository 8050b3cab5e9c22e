import { createRouterTransport, createClient } from "@connectrpc/connect";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import { expect, test } from "vitest";
import { serveMethods } from "./methods.ts";

test("a served method receives the dependencies and the request, and nothing else", async () => {
  const received: unknown[] = [];
  const deps = { name: "deps" };
  const getQuota = (...args: readonly unknown[]) => {
    received.push(...args);
    return {};
  };
  const transport = createRouterTransport((router) =>
    serveMethods(router, deps, QuotaService, { getQuota }),
  );

  await createClient(QuotaService, transport).getQuota({ workspaceId: "w" });

  expect(received).toEqual([deps, expect.objectContaining({ workspaceId: "w" })]);
});

test("a table of methods that lacks a method of the RPC contract does not compile", () => {
  createRouterTransport((router) => {
    // @ts-expect-error -- the contract of PostService has more methods.
    serveMethods(router, {}, PostService, { getPost: () => ({}) });
    // @ts-expect-error -- the contract of AuditService has a method.
    serveMethods(router, {}, AuditService, {});
  });
  expect(Object.keys(PostService.method).length).toBeGreaterThan(1);
});
