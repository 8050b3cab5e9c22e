import { expect, test } from "vitest";
import { compareDeployments, type Deployment } from "./ownership.ts";

const STORED: Deployment = {
  systemIdentifier: "7710658987572135885",
  databaseOid: 5,
  deploymentId: "production",
};

test("data in the cluster, database and deployment that it belongs to is the deployment's own", () => {
  expect(compareDeployments(STORED, { ...STORED })).toEqual({ kind: "own" });
});

test.each([
  ["system_identifier", { systemIdentifier: "1" }],
  ["database", { databaseOid: 6 }],
  ["deployment", { deploymentId: "staging" }],
] as const)("data that is used with another %s is foreign", (reason, difference) => {
  expect(compareDeployments(STORED, { ...STORED, ...difference })).toEqual({
    kind: "foreign",
    reason,
  });
});
