/**
 * protoc-gen-es without comments that repeat a declaration, half of its lines; for
 * `proto/buf.gen.yaml`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { CodeGeneratorResponseSchema } from "@bufbuild/protobuf/wkt";

function withoutRepetitions(code: string): string {
  return code
    .replaceAll(/\n( *) \*(?:\n\1 \*)? @generated from [^\n]*/g, "")
    .replaceAll(/^\/\*\*\n \* Describes the (?:.+\n)+? \*\/\n/gm, "")
    .replaceAll(/^ *\/\*\*\n *\*\/\n/gm, "")
    .replaceAll(/^( *)\/\*\*\n\1 \* ([^\n]*)\n\1 \*\/$/gm, "$1/** $2 */");
}

const { stdout, status } = spawnSync("protoc-gen-es", {
  input: readFileSync(0),
  maxBuffer: 100_000_000,
  stdio: ["pipe", "pipe", "inherit"],
});
const response = fromBinary(CodeGeneratorResponseSchema, stdout);
for (const file of response.file) file.content = withoutRepetitions(file.content);
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));
process.exitCode = status ?? 1;
