#!/usr/bin/env node
import { onRightNode } from "./setup/node-check.mjs";

onRightNode(() => import("./commands/check.mjs"));
