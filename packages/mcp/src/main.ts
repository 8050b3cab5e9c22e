#!/usr/bin/env node
import { startBridge } from "./bridge.ts";
import { loadConfig, type Config } from "./config.ts";

function readConfig(): Config {
  try {
    return loadConfig();
  } catch (error) {
    process.stderr.write(`postrider-mcp: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

await startBridge(readConfig());
