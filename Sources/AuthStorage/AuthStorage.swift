// AuthStorage
