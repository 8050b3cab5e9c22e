import { readFileSync, writeFileSync } from "node:fs";
import { extractSchema } from "./manifests/schema-extract.ts";
import { SCHEMA_FILE } from "./manifests/schema.ts";

// Writes what the checks of the manifests hold them against, after a change of the Kubernetes version or of the kinds:
//   go mod download k8s.io/kubernetes@v1.34.1
//   node scripts/kubernetes-schema.ts "$(go env GOMODCACHE)/k8s.io/kubernetes@v1.34.1/api/openapi-spec/swagger.json"
//   npx oxfmt scripts/manifests
const [file = ""] = process.argv.slice(2);
const schema = extractSchema(JSON.parse(readFileSync(file, "utf8")));
writeFileSync(SCHEMA_FILE, JSON.stringify(schema));
