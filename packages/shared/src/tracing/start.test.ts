import { expect, test } from "vitest";
import { ConfigError, loadConfig } from "#src/config.ts";
import { readTracingConfig } from "#src/tracing/start.ts";

function read(env: Readonly<Record<string, string>>) {
  return loadConfig(env, (reader) => ({ tracing: readTracingConfig(reader) })).tracing;
}

test("without an OTLP endpoint no spans are recorded, whatever the other settings say", () => {
  expect(read({})).toBeUndefined();
  expect(
    read({ OTEL_EXPORTER_OTLP_HEADERS: "nonsense", OTEL_TRACES_SAMPLER_ARG: "7" }),
  ).toBeUndefined();
});

test("with an OTLP endpoint and no other setting, every trace that starts in this process is recorded", () => {
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" })).toEqual({
    endpoint: "http://collector:4318",
    headers: {},
    ratio: 1,
  });
});

test("OTEL_EXPORTER_OTLP_HEADERS is parsed in the format that OpenTelemetry defines", () => {
  expect(
    read({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a=b, x-tenant=t1",
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    }),
  ).toMatchObject({ headers: { authorization: "Bearer a=b", "x-tenant": "t1" }, ratio: 0.1 });
});

test.each(["secret-without-a-name", "a=50%", "a=%zz", "a=%ff"])(
  "the error about the invalid OTLP header %s does not repeat the header",
  (header) => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      OTEL_EXPORTER_OTLP_HEADERS: `x=1,${header}`,
    };

    expect(() => read(env)).toThrow(
      new ConfigError(["OTEL_EXPORTER_OTLP_HEADERS entry 2 is not of the form name=value"]),
    );
  },
);

test("an invalid OTLP endpoint and an invalid sampling ratio are refused", () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318", OTEL_TRACES_SAMPLER_ARG: "2" };

  expect(() => read(env)).toThrow(/ENDPOINT is not an http address.*\n.*SAMPLER_ARG is above 1/);
});
