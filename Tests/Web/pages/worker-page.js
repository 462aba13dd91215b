const worker = new Worker(`worker.js${location.search}`, { type: 'module' });
globalThis.heard = [];
worker.onmessage = ({ data }) => heard.push(data);
worker.onerror = ({ message }) => heard.push(`error: ${message}`);
