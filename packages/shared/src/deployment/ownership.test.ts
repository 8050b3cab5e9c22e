import { expect, test } from "vitest";
import { compareDeployments, type Deployment } from "./ownership.ts";

const STORED: Deployment = {
  systemIdentifier: "7710658987572135885",
  databaseOid: 5,
  deploymentId: "production",
};

test("the data belongs to the deployment if the recorded cluster, database and deployment are the current ones", () => {
  expect(compareDeployments(STORED, { ...STORED })).toEqual({ kind: "own" });
});

test.each([
  ["system_identifier", { systemIdentifier: "1" }],
  ["database", { databaseOid: 6 }],
  ["deployment", { deploymentId: "staging" }],
] as const)(
  "the data counts as that of another deployment when the recorded %s differs from the current one",
  (reason, difference) => {
    expect(compareDeployments(STORED, { ...STORED, ...difference })).toEqual({
      kind: "foreign",
      reason,
    });
  },
);
