import { expect, test } from "vitest";
import { playablePod, valuesHere } from "./pods.ts";

test("a pod is played as its manifest has it, but for what only a cluster can do", () => {
  const securityContext = { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
  const env = [{ name: "PORT", value: "4100" }];
  const container = { name: "posts", image: "postrider/posts:0.1.0", env, securityContext };
  const pod = {
    terminationGracePeriodSeconds: 40,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001 },
    initContainers: [{ ...container, name: "topics" }],
    containers: [
      {
        ...container,
        ports: [{ name: "rpc", containerPort: 8082 }],
        startupProbe: { httpGet: { path: "/livez", port: "metrics" } },
        readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } },
        livenessProbe: { httpGet: { path: "/livez", port: "metrics" } },
      },
    ],
    volumes: [{ name: "simulator", persistentVolumeClaim: { claimName: "simulator" } }],
  };
  expect(playablePod(pod)).toEqual({
    terminationGracePeriodSeconds: 40,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001 },
    hostNetwork: true,
    initContainers: [{ ...container, name: "topics" }],
    containers: [container],
    volumes: [{ name: "simulator", emptyDir: {} }],
  });
});

test("addresses of the cluster become addresses of this machine, and other values stay", () => {
  const hosts = { "postgres:5432": "127.0.0.1:15432", "//posts:": "//127.0.0.1:" };
  expect(
    valuesHere(
      {
        HOST: "0.0.0.0",
        DATABASE_URL: "postgres://postrider_posts:secret@postgres:5432/postrider",
        POSTS_URL: "http://posts:8082",
        BUS: "kafka",
      },
      hosts,
    ),
  ).toEqual({
    HOST: "127.0.0.1",
    DATABASE_URL: "postgres://postrider_posts:secret@127.0.0.1:15432/postrider",
    POSTS_URL: "http://127.0.0.1:8082",
    BUS: "kafka",
  });
});
