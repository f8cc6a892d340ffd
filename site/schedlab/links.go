package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A linkFile is a server.Store in a file (bbolt, which has each link on the disk before it says so).
// The file is made when the first link is stored, and opened when it is first
// asked for one, so that a server whose users share no links touches no file. One that may not be written is read.
type linkFile struct {
	path string // "" if there is no place for it

	mu     sync.Mutex
	db     *bbolt.DB
	file   fs.FileInfo // of db
	failed error       // why it could not be opened, until retry
	retry  time.Time
}

var linkBucket = []byte("links")

const (
	lockWait  = 200 * time.Millisecond // for another process to let go of the file
	lockRetry = 2 * time.Second        // until a file is tried again that could not be opened
)

// defaultLinks returns where links are kept if nothing else is said, "" if the user has no folder for such files.
func defaultLinks() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "schedlab", "links.db")
}

// open returns the opened file. It returns nil without an error if there is none, and none is to be made.
// A file that was opened and then removed is still read, until one is to be made; one in its place is opened instead.
func (l *linkFile) open(create bool) (*bbolt.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db != nil {
		now, err := os.Stat(l.path)
		if err != nil && !create || os.SameFile(now, l.file) {
			return l.db, nil
		}
		l.db.Close() // it has nothing left to write
		l.db = nil
	}
	if time.Now().Before(l.retry) {
		return nil, l.failed
	}
	db, err := l.tryOpen(create)
	if err != nil {
		l.failed, l.retry = err, time.Now().Add(lockRetry)
		return nil, err
	}
	l.db = db
	return db, nil
}

func (l *linkFile) tryOpen(create bool) (db *bbolt.DB, err error) {
	if l.path == "" {
		return nil, errors.New("there is no folder for a file of links: -links names one")
	}
	if !create {
		if _, err := os.Stat(l.path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	} else if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, fmt.Errorf("no folder for %s: %w", l.path, err)
	}
	options := bbolt.Options{Timeout: lockWait, OpenFile: func(path string, flag int, mode fs.FileMode) (*os.File, error) {
		f, err := os.OpenFile(path, flag, mode)
		if err == nil {
			l.file, err = f.Stat()
		}
		return f, err
	}}
	open := func() error {
		return l.guarded(func() (err error) {
			db, err = bbolt.Open(l.path, 0o600, &options)
			return err
		})
	}
	err = open()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if options.ReadOnly = true; open() == nil {
			return db, nil
		}
	}
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s is in use by another process, such as another schedlab serve: -links names another file", l.path)
	case err != nil:
		return nil, fmt.Errorf("%s can't be opened: %w", l.path, err)
	}
	return db, nil
}

// guarded does something with the file. bbolt panics at some that are damaged, and has the file in
// its memory, so that one which was cut short is a fault there: neither may end the server.
func (l *linkFile) guarded(do func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s is no file of links, or is damaged: %v", l.path, fault)
		}
	}()
	return do()
}

// Add implements server.Store.
func (l *linkFile) Add(_ context.Context, id, query string) (held string, err error) {
	db, err := l.open(true)
	if err != nil {
		return "", err
	}
	// What is there already needs no writing.
	if held, err = l.get(db, id); held != "" || err != nil {
		return held, err
	}
	err = l.guarded(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(linkBucket)
			if err != nil {
				return err
			}
			if held = string(bucket.Get([]byte(id))); held != "" {
				return nil
			}
			held = query
			return bucket.Put([]byte(id), []byte(query))
		})
	})
	if err != nil {
		return "", fmt.Errorf("%s can't be written: %w", l.path, err)
	}
	// Whoever removed the file meanwhile has removed the link.
	if now, err := l.open(true); err != nil || now != db {
		return "", fmt.Errorf("%s was removed while a link was stored in it", l.path)
	}
	return held, nil
}

// Get implements server.Store.
func (l *linkFile) Get(_ context.Context, id string) (query string, err error) {
	db, err := l.open(false)
	if db == nil || err != nil {
		return "", err
	}
	return l.get(db, id)
}

func (l *linkFile) get(db *bbolt.DB, id string) (query string, err error) {
	err = l.guarded(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			if bucket := tx.Bucket(linkBucket); bucket != nil {
				query = string(bucket.Get([]byte(id)))
			}
			return nil
		})
	})
	return query, err
}

// close lets go of the file.
func (l *linkFile) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db == nil {
		return nil
	}
	db := l.db
	l.db = nil
	return db.Close()
}
