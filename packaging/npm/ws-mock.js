#!/usr/bin/env node
// Runs the program: its signals and its exit code are those of this process. `require('ws-mock')` is its path.
'use strict';
const path = require('path');
const program = path.join(__dirname, 'bin', 'ws-mock');
module.exports = program;

if (require.main === module) {
  const { spawn } = require('child_process');
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`ws-mock: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
