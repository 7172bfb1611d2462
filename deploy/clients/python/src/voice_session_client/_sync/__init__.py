# Made from the module of the same name in _async by `npm run client:python`.
